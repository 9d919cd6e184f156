import Foundation
import Glibc

/// One of the programs that the demo runs. Only programs that were started here are ever signalled.
final class DemoPart {
  let name: String
  private let process = Process()
  private let logFile: URL

  /// Starts a program whose output goes to a log in the demo's folder.
  init(name: String, program: String, arguments: [String], folder: String) throws {
    self.name = name
    logFile = URL(fileURLWithPath: folder).appendingPathComponent("\(name).log")
    try Data().write(to: logFile)
    let output = try FileHandle(forWritingTo: logFile)
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try Self.withoutBlockedSignals { try process.run() }
  }

  /// Threads of the concurrency runtime block nearly every signal, and a child inherits that: it would never hear
  /// SIGTERM.
  private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
  }

  var isRunning: Bool { process.isRunning }

  /// The last lines that it wrote.
  var log: String {
    let text = (try? String(contentsOf: logFile, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(20).joined(separator: "\n")
  }

  /// Asks it to end, and ends it if it has not after ten seconds.
  func stop() async {
    guard process.isRunning else { return }
    process.terminate()
    for _ in 0..<100 where process.isRunning {
      try? await Task.sleep(for: .milliseconds(100))
    }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
