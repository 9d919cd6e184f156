internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Synchronization

/// Warns about the expiry of listener certificates, about hosts that their successors do not list, and about files that
/// were refused when they were read again: in the log, once for each warning, and on `/healthz`, for information only.
final class CertificateWatch: Sendable {
  private let certificates: Mutex<[ListenerCertificate]>
  private let health: HealthMonitor
  private let logger: Logger
  /// The last warning, by listener.
  private let warned = Mutex<[String: String]>([:])
  private let reloads = Atomic<Int>(0)
  private let failedReloads = Atomic<Int>(0)
  /// The failures of the last reload.
  private let failures = Mutex<[CertificateReloadFailure]>([])
  private let hosts: Mutex<CertifiedHosts>

  /// - Parameter hosts: the host names that browsers open.
  init(_ certificates: [ListenerCertificate], hosts: [String], health: HealthMonitor, logger: Logger) {
    self.certificates = Mutex(certificates)
    self.hosts = Mutex(CertifiedHosts(hosts))
    self.health = health
    self.logger = logger
    check()
  }

  /// Replaces the watched certificates.
  func apply(_ certificates: [ListenerCertificate], hosts: [String]) {
    self.certificates.withLock { $0 = certificates }
    self.hosts.withLock { $0.names = hosts }
    check()
  }

  /// Checks dates and names now.
  func check() {
    checkDates()
    checkHosts()
  }

  private func checkHosts() {
    let certificates = certificates.withLock { $0 }
    let (lost, isNew) = hosts.withLock { hosts in
      let before = hosts.lost
      hosts.update { name in certificates.contains { $0.lists(name) } }
      return (hosts.lost, hosts.lost != before)
    }
    guard isNew else { return }
    guard !lost.isEmpty else { return health.remove(Self.hostsCheckName) }
    let message =
      "no certificate lists \(lost.joined(separator: ", ")) since certificates were replaced, so browsers refuse it: "
      + "install one that does"
    health.update(Self.hostsCheckName, .failing, message: message, at: .now())
    logger.error("the new certificates list fewer hosts than those before", metadata: ["problem": "\(message)"])
  }

  private func checkDates() {
    let now = WallClock.now() / 1_000
    for certificate in certificates.withLock({ $0 }) {
      let name = certificate.acceptor
      let warning = certificate.warning(at: now).map { "\($0.problem): \($0.remedy)" }
      health.update(
        name == AcceptorSettings.mainName ? "certificate" : "certificate \(name)",
        warning == nil ? .ok : .failing, message: warning, at: .now())
      let isNew = warned.withLock { warned in
        defer { warned[name] = warning }
        return warned[name] != warning
      }
      guard isNew, let warning else { continue }
      let expiry = Date(timeIntervalSince1970: Double(certificate.expiry)).ISO8601Format()
      logger.warning(
        "listener certificate has expired, expires soon or is not valid yet",
        metadata: ["listener": "\(name)", "problem": "\(warning)", "expires": "\(expiry)"])
    }
  }

  /// Notes a reload of all certificates and keys: logs those that could not be reloaded, and checks the others. A
  /// failure that is tried again every two seconds is logged once.
  func noteReload(_ failures: [CertificateReloadFailure]) {
    if failures.isEmpty { reloads.add(1, ordering: .relaxed) } else { failedReloads.add(1, ordering: .relaxed) }
    let before = self.failures.withLock { current in
      defer { current = failures }
      return current
    }
    // A transient failure has all files read again at the next look: then the same one is not logged again.
    let isRepeated = failures.contains(where: \.isTransient)
    for failure in failures where !isRepeated || !before.contains(failure) {
      logger.error(
        "certificate reload failed, keeping the previous certificates",
        metadata: ["of": "\(failure.owner)", "code": "\(failure.code)", "problem": "\(failure.reason)"])
    }
    health.update(
      Self.filesCheckName, failures.isEmpty ? .ok : .failing,
      message: failures.isEmpty
        ? nil
        : failures.map { "\($0.owner): \($0.reason)" }.joined(separator: "; ")
          + "; the previous certificates stay in use until a restart, which would fail",
      at: .now())
    check()
  }

  /// The name of the check of the files on `/healthz`.
  private static let filesCheckName = "certificate files"
  /// The name of the check of the listed hosts, which is there while one is missing.
  private static let hostsCheckName = "certificate hosts"

  /// Adds the metrics of the certificates' expiry and of their reloads.
  func addMetrics(to metrics: MetricsRegistry) {
    metrics.addGauges(
      "cordon_tls_certificate_expiry_seconds", kind: .gauge,
      help: "Expiry of a listener's certificate, in seconds since 1970."
    ) { [self] in expiries.map { ($0.labels, $0.seconds) } }
    metrics.addGauge(
      "cordon_tls_certificates_refused", kind: .gauge,
      help: "Listeners and upstreams whose certificates or keys were refused when last read, and the old ones kept."
    ) { [self] in Double(failures.withLock { $0.count }) }
    metrics.addGauges(
      "cordon_tls_certificate_reloads_total", kind: .counter,
      help: "Times that certificates and keys were read again, by outcome."
    ) { [self] in
      [
        ([("outcome", "success")], Double(reloads.load(ordering: .relaxed))),
        ([("outcome", "failure")], Double(failedReloads.load(ordering: .relaxed))),
      ]
    }
  }

  /// The expiry of each certificate, by listener and file, for the metrics.
  private var expiries: [(labels: [(String, String)], seconds: Double)] {
    certificates.withLock { $0 }.flatMap { certificate in
      certificate.expiries.map {
        ([("listener", certificate.acceptor), ("file", $0.file)], Double($0.expiry))
      }
    }
  }
}

/// The host names that browsers open, and whether certificates list them. One that never was listed is no loss: TLS for
/// it may end before the gateway, or clients connect by another name.
struct CertifiedHosts {
  var names: [String]
  /// Those that were listed, and are not any more.
  private(set) var lost: [String] = []
  private var listed: Set<String> = []

  init(_ names: [String]) { self.names = names }

  mutating func update(isListed: (String) -> Bool) {
    let before = listed.union(lost)
    listed = Set(names.filter(isListed))
    lost = names.filter { before.contains($0) && !listed.contains($0) }
  }
}
