internal import AccessPolicy
internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
internal import Threads

/// One upstream with its health check.
struct WatchedUpstream: Sendable {
  let target: UpstreamGroup
  let checker: UpstreamChecker?
  private let authority: String

  /// The applications that the routes name, by the number that ``RouteDecision/upstream`` has.
  /// - Parameter known: those of the previous configuration. One with the same settings is kept with its connections
  ///   and its health, unless a file of its certificates has changed: its connections were made with the old ones. All
  ///   are within the same limits.
  /// - Throws: ``UnknownUpstreamError`` if a route names an unknown upstream; TLSConfigurationError.
  static func all(
    of settings: GatewaySettings, routes: RouteTable, keeping known: [WatchedUpstream] = [],
    reading files: SerialWorker, on eventLoop: any EventLoop
  ) async throws -> [WatchedUpstream] {
    var result: [WatchedUpstream] = []
    let limits = known.first?.target.limits ?? ConnectionLimits()
    for name in routes.upstreams {
      let named = name.map { name in settings.upstreams.named.first { $0.name.utf8.elementsEqual(name.utf8) } }
      guard let upstream = named ?? settings.upstreams.main, !upstream.addresses.isEmpty else {
        throw UnknownUpstreamError(name: name ?? UpstreamSettings.defaultName)
      }
      let authority = upstream.host ?? settings.publicAddress.origin.authority
      let same = known.first { $0.target.settings == upstream && $0.authority == authority }
      if let same, try await files.run({ Result { try same.target.hasPresentCertificates() } }).get() {
        result.append(same)
      } else {
        let new = try await WatchedUpstream(
          upstream, authority: authority, limits: limits, reading: files, on: eventLoop)
        for same in known { new.target.learn(from: same.target) }
        result.append(new)
      }
    }
    return result
  }

  private init(
    _ settings: UpstreamSettings, authority: String, limits: ConnectionLimits, reading files: SerialWorker,
    on eventLoop: any EventLoop
  ) async throws {
    target = try await files.run { Result { try UpstreamGroup(settings, limits: limits) } }.get()
    checker = try await UpstreamChecker(target, authority: authority, on: eventLoop)
    self.authority = authority
  }

  /// Reports the state to health, and changes to the log.
  func report(to health: HealthMonitor, at time: Timestamp, logger: Logger) {
    let status = target.status
    let troubled = status.filter { !$0.isHealthy }
    let name: Logger.MetadataValue = "\(target.settings.name)"
    guard !troubled.isEmpty else {
      let before = health.update(check, status.contains(where: \.hasAnswered) ? .ok : .unknown, at: time)
      if before == .failing { logger.notice("upstream recovered", metadata: ["upstream": name]) }
      return
    }
    let words = troubled.map { "\($0.address) \(Self.trouble($0))" }
    let problem = "\(troubled.count) of \(status.count) unhealthy: \(words.joined(separator: ", "))"
    guard health.update(check, .failing, message: problem, at: time) != .failing else { return }
    let metadata: Logger.Metadata = ["upstream": name, "problem": "\(problem)"]
    if troubled.allSatisfy({ $0.lastFailureWasMalformed && !$0.failsChecks }) {
      logger.error("upstream ejected for malformed responses", metadata: metadata)
    } else {
      logger.error("upstream not responding", metadata: metadata)
    }
  }

  private static func trouble(_ status: UpstreamAddressStatus) -> String {
    if status.failsChecks { return "fails its checks" + (status.checkFailure.map { " (\($0))" } ?? "") }
    return status.lastFailureWasMalformed ? "answers with malformed responses" : "does not answer"
  }

  /// The name of its check in health.
  var check: String {
    let name = target.settings.name
    return name.utf8.elementsEqual(UpstreamSettings.defaultName.utf8) ? "upstream" : "upstream \(name)"
  }
}

/// A route names an unknown upstream. The configuration check reports it earlier, with its location.
struct UnknownUpstreamError: Error, CustomStringConvertible {
  let name: String
  var description: String { "there is no address for the upstream \"\(name)\"; write [[upstreams]] with this name" }
}
