import Foundation
import TemporaryDirectoryTesting
import Testing

/// The report of `cordon doctor`.
struct DoctorReport {
  let exit: ServerProcess.Exit
  let lines: [String]

  /// Has the doctor examine a gateway.
  init(of gateway: GatewayProcess) throws {
    try self.init(gateway.file, in: gateway.directory)
  }

  /// Has the doctor examine what a configuration file names.
  init(_ file: String, in directory: TemporaryDirectory, environment: [String: String] = [:]) throws {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["doctor", "--config", file], environment: environment, directory: directory.path)
    #expect(result.standardError.isEmpty, "\(result.standardError)")
    exit = result.exit
    lines = result.standardOutput.split(separator: "\n").map(String.init)
  }

  /// The line about a subject.
  func line(_ subject: String) -> String {
    lines.first { $0.dropFirst(6).hasPrefix(subject + " ") } ?? "no line about \(subject) in \(lines)"
  }

  /// Lines that are not ok.
  var complaints: [String] { lines.filter { $0.hasPrefix("warn") || $0.hasPrefix("FAIL") } }
}
