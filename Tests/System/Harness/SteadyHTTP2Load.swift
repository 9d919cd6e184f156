import Foundation
import TemporaryDirectoryTesting

/// Requests over HTTP/2 and TLS without a pause, by a client that shares no code with the gateway (`HTTP2/load.py`):
/// what ``SteadyLoad`` is for HTTP/1.1.
@SystemActor
final class SteadyHTTP2Load {
  private let process: ServerProcess

  /// The result of the load.
  struct Result: Decodable {
    var answered: Int
    var connections: Int
    /// Connections whose end was announced.
    var farewells: Int
    /// Requests that a farewell left out, to be sent again.
    var leftOut: Int
    /// The names of the certificates that were shown.
    var certificates: [String]
    /// Unexpected responses.
    var complaints: [String]

    enum CodingKeys: String, CodingKey {
      case answered, connections, farewells, certificates, complaints
      case leftOut = "left_out"
    }
  }

  /// Begins.
  init(_ folder: TLSFolder, port: UInt16) throws {
    let file = Machine.packageRoot.appending(path: "Tests/System/HTTP2/load.py").path
    process = try ServerProcess("/usr/bin/python3", [file, "\(port)"], directory: folder.path)
  }

  /// The approximate number of responses with 200 so far.
  private var answered: Int {
    let lines = process.standardOutput.split(separator: "\n")
    return lines.last { $0.hasSuffix(" answered") }.flatMap { Int($0.prefix { $0 != " " }) } ?? 0
  }

  /// Waits until so many more were answered, so that what a test does next happens under load.
  func waitForMore(_ count: Int = 100) throws {
    let goal = answered + count
    try process.waitUntilReady("\(count) more answers") { answered >= goal }
  }

  /// Ends the load, and returns the result.
  func stop() throws -> Result {
    defer { process.stop() }
    process.signal(SIGTERM)
    guard try process.waitForExit() == .code(0) else { throw HarnessError.malformed(process.standardError) }
    try process.waitForEndOfOutput()
    let line = process.standardOutput.split(separator: "\n").last ?? ""
    return try JSONDecoder().decode(Result.self, from: Data(line.utf8))
  }
}
