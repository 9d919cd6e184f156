import Foundation
import Testing

/// Requests over HTTP/2 to a gateway by client.py, one process each.
@SystemActor
struct HTTP2Client {
  /// The result of a request, as client.py prints it.
  struct Answer: Decodable {
    var fields: [[String]]
    var interim: [[[String]]]
    var body: String
    var trailers: [[String]]
    var done: Bool
    var reset: Int?

    var status: String? { fields.first { $0[0] == ":status" }?[1] }
  }

  private let port: UInt16

  init(_ gateway: GatewayProcess) { port = gateway.configuration.port }

  /// Starts a scenario of client.py.
  func start(_ arguments: [String]) throws -> ServerProcess {
    // Debian's, whose packages the tests install: another Python may come first on the path.
    try ServerProcess(
      "/usr/bin/python3",
      [Machine.packageRoot.appending(path: "Tests/System/HTTP2/client.py").path, "\(port)"] + arguments)
  }

  /// Runs a scenario of client.py to its end.
  func run<Result: Decodable>(_ arguments: [String], as type: Result.Type = Result.self) throws -> Result {
    let process = try start(arguments)
    defer { process.stop() }
    let exit = try process.waitForExit()
    try process.waitForEndOfOutput()
    guard exit == .code(0) else { throw HarnessError.malformed(process.standardError) }
    return try JSONDecoder().decode(type, from: Data(process.standardOutput.utf8))
  }

  func run<Result: Decodable>(_ arguments: String..., as type: Result.Type = Result.self) throws -> Result {
    try run(arguments, as: type)
  }

  func get(_ path: String) throws -> Answer { try run("get", path) }
}

extension Site {
  /// The cookies that a visitor sends to the site.
  func cookie(of visitor: Visitor) throws -> String { try #require(try visitor.cookieHeader(for: origin + "/")) }
}
