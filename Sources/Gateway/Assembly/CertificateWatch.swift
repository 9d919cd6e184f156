internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Synchronization

/// Tells in time that a listener's certificate expires: in the log, once for each thing to say, and by `/healthz`,
/// where it informs. Nothing is refused for it.
final class CertificateWatch: Sendable {
  private let certificates: Mutex<[ListenerCertificate]>
  private let health: HealthMonitor
  private let logger: Logger
  /// What was told last, by listener.
  private let told = Mutex<[String: String]>([:])
  private let reloads = Atomic<Int>(0)
  private let failedReloads = Atomic<Int>(0)

  init(_ certificates: [ListenerCertificate], health: HealthMonitor, logger: Logger) {
    self.certificates = Mutex(certificates)
    self.health = health
    self.logger = logger
    look()
  }

  /// Looks at others from now on.
  func apply(_ certificates: [ListenerCertificate]) {
    self.certificates.withLock { $0 = certificates }
    look()
  }

  /// Looks at the dates as they are now.
  func look() {
    let now = WallClock.now() / 1_000
    for certificate in certificates.withLock({ $0 }) {
      let name = certificate.entrance
      let warning = certificate.warning(at: now)
      health.update(
        name == AcceptorSettings.mainName ? "certificate" : "certificate \(name)",
        warning == nil ? .ok : .failing, message: warning, at: .now())
      let isNew = told.withLock { told in
        defer { told[name] = warning }
        return told[name] != warning
      }
      guard isNew, let warning else { continue }
      let expiry = Date(timeIntervalSince1970: Double(certificate.expiry)).ISO8601Format()
      logger.warning(
        "listener certificate has expired or expires soon",
        metadata: ["listener": "\(name)", "problem": "\(warning)", "expires": "\(expiry)"])
    }
  }

  /// Certificates and keys were read again: tells of those that were not taken, and looks at the dates of the others.
  func reloaded(_ failures: [CertificateReloadFailure]) {
    if failures.isEmpty { reloads.add(1, ordering: .relaxed) } else { failedReloads.add(1, ordering: .relaxed) }
    for failure in failures {
      logger.error(
        "certificate reload failed, keeping the previous certificates",
        metadata: ["of": "\(failure.owner)", "code": "\(failure.code)", "problem": "\(failure.reason)"])
    }
    look()
  }

  /// Tells the metrics when certificates expire, and how reading them again went.
  func addMetrics(to metrics: MetricsRegistry) {
    metrics.addGauges(
      "cordon_tls_certificate_expiry_seconds", kind: .gauge,
      help: "When a listener's certificate expires, in seconds since 1970."
    ) { [self] in expiries.map { ($0.labels, $0.seconds) } }
    metrics.addGauges(
      "cordon_tls_certificate_reloads_total", kind: .counter, help: "Readings of changed certificates and keys."
    ) { [self] in
      [
        ([("outcome", "success")], Double(reloads.load(ordering: .relaxed))),
        ([("outcome", "failure")], Double(failedReloads.load(ordering: .relaxed))),
      ]
    }
  }

  /// When each certificate expires, by listener and file, for the metrics.
  private var expiries: [(labels: [(String, String)], seconds: Double)] {
    certificates.withLock { $0 }.flatMap { certificate in
      certificate.expiries.map {
        ([("listener", certificate.entrance), ("file", $0.file)], Double($0.expiry))
      }
    }
  }
}
