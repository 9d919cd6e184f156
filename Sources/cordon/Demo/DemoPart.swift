import FoundationEssentials
import Glibc
import Processes

/// One of the programs that the demo runs.
final class DemoPart {
  let name: String
  private var process: ChildProcess
  private let logFile: URL

  /// Starts a program in the demo's folder, where its output goes to a log.
  init(name: String, program: String, arguments: [String], folder: DemoFolder) throws(DemoError) {
    self.name = name
    logFile = URL(fileURLWithPath: "\(folder.path)/\(name).log")
    do {
      process = try ChildProcess(program, arguments, output: logFile.path)
    } catch {
      throw DemoError.notStarted(name, reason: error.reason)
    }
  }

  var isRunning: Bool { process.isRunning }

  /// The last lines that it wrote.
  var log: String {
    let text = String(decoding: (try? Data(contentsOf: logFile)) ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").suffix(20).joined(separator: "\n")
  }

  /// Asks it to end, and ends it if it has not after ten seconds.
  func stop() async {
    process.signal(SIGTERM)
    for _ in 0..<100 where process.isRunning {
      try? await Task.sleep(for: .milliseconds(100))
    }
    process.signal(SIGKILL)
    process.waitForEnd()
  }
}
