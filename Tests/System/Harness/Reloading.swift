import Foundation
import TemporaryDirectoryTesting

// Gateways whose configuration is read again while they run.

extension Site {
  /// A gateway with two event loops, whose log is JSON.
  static func withTwoLoops(
    upstream: @escaping RawUpstream.RequestHandler = RawUpstream.greet,
    adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> Site {
    try Site(
      upstream: upstream,
      adjust: {
        $0["log", "format"] = "\"json\""
        $0["listen", "workers"] = "2"
        adjust(&$0)
      })
  }

  /// Writes another configuration, asks for it by signal, and waits for what comes of it.
  func reload(_ change: (inout GatewayConfiguration) -> Void) throws {
    var configuration = gateway.configuration
    change(&configuration)
    let before = reloadOutcomes
    _ = try configuration.install(in: gateway.directory)
    gateway.process.signal(SIGHUP)
    try poll("the reload to be over") { reloadOutcomes > before ? () : nil }
  }

  /// The number of lines of the log about reloads, those that succeeded and those that did not.
  var reloadOutcomes: Int {
    let log = String(decoding: gateway.log, as: UTF8.self)
    return ["configuration reloaded", "configuration reload failed"].reduce(0) {
      $0 + log.components(separatedBy: $1).count - 1
    }
  }
}
