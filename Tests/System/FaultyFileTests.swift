import Foundation
import Testing

// Files that cannot be read for a while: on a mount that does not answer, or while the system has no descriptors left.
//
// - A reload that hangs does not keep the gateway from ending.

@SystemActor
@Suite("Files that cannot be read for a while")
struct FaultyFileTests {
  /// A gateway that lets everybody in, and for which some of its files can be in trouble.
  /// - Parameter part: of the paths of these files.
  private func gateway(
    _ part: String, before upstream: RawUpstream, adjust: (inout GatewayConfiguration) throws -> Void = { _ in }
  ) throws -> (GatewayProcess, FaultyFiles) {
    var configuration = try GatewayConfiguration(
      upstream: "http://127.0.0.1:\(upstream.port)", apple: "http://127.0.0.1:9")
    configuration["log", "format"] = "\"json\""
    configuration.ending = "[[route]]\npath = \"/\"\naccess = \"public\"\n"
    try adjust(&configuration)
    let files = try FaultyFiles(part)
    return (try GatewayProcess(configuration, environment: files.environment), files)
  }

  @Test("A reload that reads a file which hangs does not keep the gateway from ending", arguments: [1, 2])
  func end(signals: Int) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let (gateway, files) = try gateway("/session.key", before: upstream)
    defer { gateway.stop() }
    try files.set(.hangs)
    gateway.process.signal(SIGHUP)
    try files.waitUntilMet()
    for _ in 0..<signals {
      gateway.process.signal(SIGTERM)
      try gateway.process.waitForLine(containing: "shutting down")
    }
    #expect(try gateway.process.waitForExit() == .code(0))
  }
}
