import Foundation

/// Requests over HTTP/2 by client.py, one process each.
@SystemActor
enum HTTP2Client {
  /// Runs a scenario of client.py against a gateway to its end.
  static func run<Result: Decodable>(
    _ gateway: GatewayProcess, _ arguments: [String], as type: Result.Type = Result.self
  ) throws -> Result {
    let script = Machine.packageRoot.appending(path: "Tests/System/HTTP2/client.py").path
    let run = try ServerProcess.run("/usr/bin/python3", [script, "\(gateway.configuration.port)"] + arguments)
    guard run.exit == .code(0) else { throw HarnessError.malformed(run.standardError) }
    return try JSONDecoder().decode(type, from: Data(run.standardOutput.utf8))
  }

  static func get(_ gateway: GatewayProcess, _ path: String, _ fields: String...) throws -> HTTP2Tests.Answer {
    try run(gateway, ["get", path] + fields)
  }
}
