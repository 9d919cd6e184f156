internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Sessions
internal import WebFormats

/// `/status` of the admin listener: combines the status of all parts, as a page or as JSON. It requires no token, so it
/// contains no data about users.
final class StatusBoard: Sendable {
  private let loops: ProcessSessions
  private let health: HealthMonitor
  private let metrics: MetricsRegistry
  private let people: PeopleWatch
  private let upstreams: @Sendable () -> [UpstreamAddressStatus]
  private let version: String
  private let started: Timestamp
  private let history = StatusHistory()

  init(
    loops: ProcessSessions, health: HealthMonitor, metrics: MetricsRegistry, people: PeopleWatch,
    upstreams: @escaping @Sendable () -> [UpstreamAddressStatus], version: String, started: Timestamp
  ) {
    self.loops = loops
    self.health = health
    self.metrics = metrics
    self.people = people
    self.upstreams = upstreams
    self.version = version
    self.started = started
  }

  /// Takes a sample: every `StatusHistory.stepSeconds`.
  func record() { history.record(metrics.statusTotals(), at: .now()) }

  /// The page, or JSON where `Accept` names it and no HTML, or `?format=json`.
  /// - Parameter configuration: the present one.
  func answer(_ request: ControlRequest, _ configuration: StatusConfiguration) async -> ControlResponse {
    let report = await report(configuration)
    if wantsJSON(request) {
      var response = ControlResponse.json(report.json())
      response.head.headerFields[.vary] = "Accept"
      return response
    }
    let nonce = Self.nonce()
    return ControlResponse(
      .ok,
      fields: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        .contentSecurityPolicy: StatusReport.contentSecurityPolicy(nonce: nonce), .referrerPolicy: "no-referrer",
        .vary: "Accept",
      ], body: report.page(nonce: nonce))
  }

  private func wantsJSON(_ request: ControlRequest) -> Bool {
    let query = (request.head.path ?? "").utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1).dropFirst().first
    if let query, query.split(separator: UInt8(ascii: "&")).contains(where: { $0.elementsEqual("format=json".utf8) }) {
      return true
    }
    let types = (request.head.headerFields[.accept] ?? "").utf8.split(separator: UInt8(ascii: ",")).map(
      MediaType.withoutParameters)
    return types.contains(Array("application/json".utf8)) && !types.contains(Array("text/html".utf8))
  }

  private func report(_ configuration: StatusConfiguration) async -> StatusReport {
    let now = Timestamp.now()
    return StatusReport(
      now: now, version: version, started: started, site: configuration.site,
      health: health.report, totals: metrics.statusTotals(), steps: history.steps(before: now),
      sessions: await loops.count(), hosts: hosts(configuration), upstreams: upstreams().map(Self.upstream),
      files: Self.files(configuration), process: .current(), people: people.latest(configuration.groups))
  }

  private func hosts(_ configuration: StatusConfiguration) -> [StatusReport.Host] {
    let counted = metrics.hostRequests()
    return configuration.hosts.map { name, upstream in
      let requests = counted.first { $0.host.utf8.elementsEqual(name.utf8) }?.requests ?? 0
      return StatusReport.Host(name: name, upstream: upstream, requests: requests)
    }
  }

  private static func upstream(_ status: UpstreamAddressStatus) -> StatusReport.Upstream {
    let state: StatusReport.Upstream.State =
      if status.failsChecks { .failing } else if status.isEjected { .ejected } else {
        status.hasAnswered ? .well : .unknown
      }
    return StatusReport.Upstream(
      name: status.upstream, address: status.address, state: state, failures: status.failures,
      ejections: status.ejections)
  }

  /// Names and dates of certificates and keys, never their contents.
  private static func files(_ configuration: StatusConfiguration) -> [StatusReport.DatedFile] {
    var files: [StatusReport.DatedFile] = []
    for certificate in configuration.certificates.flatMap(\.expiries) {
      // Only the name of the file: its path is not disclosed here.
      let name = certificate.file.utf8.split(separator: UInt8(ascii: "/")).last.map {
        String(decoding: $0, as: UTF8.self)
      }
      files.append(
        StatusReport.DatedFile(
          name: "Certificate \(name ?? certificate.file)", changed: changed(certificate.file),
          expires: Timestamp(seconds: Double(certificate.expiry))))
    }
    files.append(
      StatusReport.DatedFile(
        name: "Apple’s key \(configuration.apple.keyID)", changed: changed(configuration.apple.privateKeyFile)))
    for (index, file) in configuration.session.secretFiles.enumerated() {
      let name = index == 0 ? "Session secret in use" : "Older session secret"
      files.append(StatusReport.DatedFile(name: name, changed: changed(file)))
    }
    return files
  }

  private static func changed(_ path: String) -> Timestamp? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.modificationDate] as? Date).map { Timestamp(seconds: $0.timeIntervalSince1970) }
  }

  private static func nonce() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
  }
}

/// The parts of a configuration that the status page shows.
struct StatusConfiguration: Sendable {
  /// The authority of `public_url`.
  let site: String
  /// Each host, that of `public_url` first, and the upstream that serves it where no route states another one.
  let hosts: [(name: String, upstream: String)]
  let certificates: [ListenerCertificate]
  let apple: AppleSettings
  let session: SessionSettings
  let groups: GroupDirectory
}
