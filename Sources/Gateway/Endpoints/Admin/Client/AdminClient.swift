package import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore
package import Operations
internal import Secrets
internal import SocketTransport
internal import WebFormats

/// The client of the admin listener of a running gateway, for the commands that act on one.
package struct AdminClient: Sendable {
  private let address: BindAddress
  private let token: AdminToken?
  /// Whether an address that Apple has not verified selects an account to admit.
  let allowsUnverifiedEmail: Bool
  /// Whether the configuration file is invalid, so that nothing may be done that gives access.
  let isFileInvalid: Bool

  private let timeout: Duration

  /// The timeout: each token of a user is revoked in turn, which may take twelve seconds each.
  private static let usualTimeout = Duration.seconds(120)
  /// The timeout of probes, which a gateway answers at once or not at all.
  private static let probeTimeout = Duration.seconds(5)
  /// The longest answer, in bytes.
  private static let bodyLimit = 16 << 20

  /// - Parameters:
  ///   - allowsUnverifiedEmail: `identity.allow_unverified_email`.
  ///   - isFileInvalid: whether the configuration file is invalid but for address and settings.
  /// - Throws: ``AdminTokenError``.
  package init(
    at address: BindAddress, _ settings: AdminSettings, allowsUnverifiedEmail: Bool = false,
    isFileInvalid: Bool = false
  ) throws {
    self.address = address
    self.allowsUnverifiedEmail = allowsUnverifiedEmail
    self.isFileInvalid = isFileInvalid
    timeout = Self.usualTimeout
    token = try settings.tokenFile.map { file throws(AdminTokenError) in
      try AdminToken(contentsOfFile: file)
    }
  }

  /// A client for health requests alone, which need no token: a mistake in the token's file, made since the start, says
  /// nothing about the gateway that runs.
  package init(forHealthAt address: BindAddress) {
    self.address = address
    allowsUnverifiedEmail = false
    isFileInvalid = false
    token = nil
    timeout = Self.probeTimeout
  }

  /// The account with this subject: one or none.
  package func accounts(subject: String) async throws -> AccountsReport {
    try await ask(.get, "/accounts?subject=\(PercentEncoding.encode(subject))", AccountsReport.self)
  }

  /// The accounts with this last known address.
  package func accounts(email: String) async throws -> AccountsReport {
    try await ask(.get, "/accounts?email=\(PercentEncoding.encode(email))", AccountsReport.self)
  }

  /// All sessions of a user, newest first.
  package func sessions(of subject: String) async throws -> SessionsReport {
    var sessions: [SessionReport] = []
    var damaged: [String?] = []
    var after: String?
    repeat {
      let query = after.map { "?after=\(PercentEncoding.encode($0))" } ?? ""
      let page = try await ask(
        .get, "/accounts/\(PercentEncoding.encode(subject))/sessions\(query)", SessionsReport.self)
      sessions += page.sessions
      damaged += page.damaged ?? []
      after = page.next
    } while after != nil
    return SessionsReport(sessions: sessions, next: nil, damaged: damaged.isEmpty ? nil : damaged)
  }

  /// Ends one session.
  package func endSession(_ handle: String) async throws -> EndedReport {
    try await ask(.delete, "/sessions/\(PercentEncoding.encode(handle))", EndedReport.self)
  }

  /// Ends every session of a user.
  package func endSessions(of subject: String) async throws -> EndedReport {
    try await ask(.delete, "/accounts/\(PercentEncoding.encode(subject))/sessions", EndedReport.self)
  }

  /// Revokes a user's tokens at Apple and deletes the user.
  /// - Parameter evenUnrevoked: whether to delete the user even if Apple did not revoke the tokens.
  package func disconnect(_ subject: String, evenUnrevoked: Bool) async throws -> DisconnectionReport {
    try await ask(
      .post, "/accounts/\(PercentEncoding.encode(subject))/disconnect\(evenUnrevoked ? "?force=true" : "")",
      DisconnectionReport.self, or: .badGateway)
  }

  /// Reloads the configuration of the gateway.
  package func reload() async throws -> ReloadReport {
    try await ask(.post, "/reload", ReloadReport.self, or: .unprocessableContent)
  }

  /// Whether the gateway accepts requests, and the reason if not (`/readyz`).
  package func readiness() async throws -> (isReady: Bool, reason: String?) {
    try await probe("/readyz")
  }

  /// Whether the process is alive, and the reason if not (`/livez`).
  package func liveness() async throws -> (isLive: Bool, reason: String?) { try await probe("/livez") }

  private func probe(_ path: String) async throws -> (Bool, String?) {
    let response = try await send(.get, path)
    let report = try? JSONDecoder().decode(ReadinessReport.self, from: Data(response.body))
    return (response.head.status == .ok, report?.message)
  }

  /// Migrates the next accounts to the subjects of another team.
  /// - Parameters:
  ///   - team: prepares the move to it; nil completes the move to the team of the configuration.
  ///   - after: the end of the previous page.
  package func migrate(to team: String?, after: String?, dryRun: Bool) async throws -> MigrationReport {
    let fields = [
      team.map { "to=\(PercentEncoding.encode($0))" }, after.map { "after=\(PercentEncoding.encode($0))" },
      dryRun ? "dry_run=true" : nil,
    ].compactMap(\.self)
    return try await ask(.post, "/accounts/migrate?\(fields.joined(separator: "&"))", MigrationReport.self)
  }

  /// - Parameters:
  ///   - other: a status in addition to 200 that has a report.
  ///   - body: a JSON object; empty for none.
  func ask<Report: Decodable>(
    _ method: HTTPRequest.Method, _ target: String, _ report: Report.Type, or other: HTTPResponse.Status = .ok,
    body: [UInt8] = []
  ) async throws -> Report {
    let response = try await send(method, target, body)
    guard response.head.status == .ok || response.head.status == other else {
      let refusal = try? JSONDecoder().decode(RefusalReport.self, from: Data(response.body))
      throw AdminClientError(
        refusal?.message
          ?? "what answers at \(address) sent \(response.head.status.code) without a reason, as another program or "
          + "version would: check admin.address")
    }
    do {
      return try JSONDecoder().decode(report, from: Data(response.body))
    } catch {
      throw AdminClientError("what answers at \(address) is not this version of cordon: check admin.address")
    }
  }

  private func send(
    _ method: HTTPRequest.Method, _ target: String, _ body: [UInt8] = []
  ) async throws -> OriginResponse {
    let group = try SocketEventLoopGroup(loops: 1)
    do {
      let upstream = try UpstreamGroup(UpstreamSettings(address: Self.reachable(address)))
      let client = try await OriginClient(
        upstream, authority: "localhost", timeout: timeout, bodyLimit: Self.bodyLimit, on: group.next())
      var fields: HTTPFields = [.accept: "application/json"]
      if let token { fields[.authorization] = "Bearer \(token.exposed)" }
      if !body.isEmpty { fields[.contentType] = "application/json" }
      let request = HTTPRequest(
        method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
      let response = try await client.send(request, body: body)
      try await group.shutdownGracefully()
      return response
    } catch {
      try? await group.shutdownGracefully()
      guard let error = error as? OriginError else { throw error }
      switch error {
      case .notSent(let reason):
        throw AdminClientError(
          "the gateway's admin listener at \(address) cannot be reached (\(reason)): is the gateway running, and may "
            + "you open that address? \(accessHint)")
      case .unanswered(let reason):
        throw AdminClientError(
          "the admin listener at \(address) did not answer (\(reason)): it may have done what was asked; look at the "
            + "result, or into the audit log, before you repeat it")
      }
    }
  }

  /// The next step where the gateway is not reached.
  private var accessHint: String {
    switch address {
    case .unix: "Its log says whether it runs; the socket is open to root and to the gateway's user"
    default: "Its log says whether it runs, and where it listens"
    }
  }

  /// The address to connect to for a listener of this machine: loopback instead of an unspecified address.
  private static func reachable(_ address: BindAddress) -> UpstreamAddress {
    switch address {
    case .unix(let path): .unix(path: path)
    case .ip("0.0.0.0", let port): .tcp(host: "127.0.0.1", port: port, tls: false)
    case .ip("::", let port): .tcp(host: "::1", port: port, tls: false)
    case .ip(let host, let port): .tcp(host: host, port: port, tls: false)
    }
  }
}

/// The failure of a command, for its user.
package struct AdminClientError: Error, Sendable, CustomStringConvertible {
  /// The problem and the remedy.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The answer of `/readyz` while something keeps the gateway from being ready.
private struct ReadinessReport: Decodable {
  let message: String?
}
