import Foundation
import Processes

/// A program that a test started. It ends with the test at the latest: `stop()` and `deinit` kill its process group,
/// and the kernel kills it when the test process itself dies.
final class ServerProcess: Sendable {
  /// The end of a process.
  enum Exit: Equatable, Sendable {
    case code(Int32)
    case signal(Int32)
  }

  let name: String
  let pid: pid_t
  private let output: Watched<Output>
  private let exit: Watched<Exit?>

  private struct Output {
    var standardOutput: [UInt8] = []
    var standardError: [UInt8] = []
    /// Pipes that have not ended yet.
    var openPipes = 2
  }

  /// Starts `executable` (an absolute path) with `environment` added to the tests' own.
  /// - Parameter inherited: descriptors that the program finds as 3, 4 and so on.
  init(
    _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
    inherited: [Int32] = []
  ) throws {
    name = URL(fileURLWithPath: executable).lastPathComponent
    guard FileManager.default.isExecutableFile(atPath: executable) else {
      throw HarnessError.missing("\(executable): build it first (swift build --build-tests)")
    }
    let (outRead, outWrite) = try Self.pipe()
    let (errRead, errWrite) = try Self.pipe()
    // `env` and `setpriv` become the program itself: the process identifier and the exit status are the program's.
    // A process group of its own, so that what the program starts ends with it.
    var spawn = Spawn(
      "/usr/bin/env", ["-C", directory ?? "/", "setpriv", "--pdeathsig", "KILL", "--", executable] + arguments,
      output: .descriptors(output: outWrite, errors: errWrite))
    spawn.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
    spawn.inherited = inherited
    do throws(SpawnError) { pid = try spawn.start() } catch {
      throw HarnessError.system("posix_spawn /usr/bin/env", errno: error.errnoCode)
    }
    close(outWrite)
    close(errWrite)
    output = Watched(Output())
    exit = Watched(nil)
    Self.collect(outRead, into: output) { $0.standardOutput.append(contentsOf: $1) }
    Self.collect(errRead, into: output) { $0.standardError.append(contentsOf: $1) }
    Thread.detachNewThread { [pid, exit] in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
      let signal = status & 0x7F
      let result: Exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
      exit.update { $0 = result }
    }
  }

  deinit { _ = kill(-pid, SIGKILL) }

  var isRunning: Bool { exit.current == nil }

  /// The output of the program so far.
  var standardOutput: String { String(decoding: output.current.standardOutput, as: UTF8.self) }
  var standardError: String { String(decoding: output.current.standardError, as: UTF8.self) }

  /// Both streams, for a search in everything that was said. As bytes, because raw control characters matter.
  var everythingWritten: [UInt8] {
    let output = output.current
    return output.standardOutput + output.standardError
  }

  /// Waits until both streams have ended: nothing more will be written.
  func waitForEndOfOutput(by deadline: Deadline = .standard) throws {
    try output.take("\(name) to close its output", by: deadline) { $0.openPipes == 0 ? () : nil }
  }

  /// Waits for a line, on either stream, that holds `text`; not longer than the program writes.
  @discardableResult
  func waitForLine(containing text: String, by deadline: Deadline = .standard) throws -> String {
    let line: String?
    do {
      line = try output.take("a line with \"\(text)\" from \(name)", by: deadline) { output -> String?? in
        for stream in [output.standardOutput, output.standardError] {
          for line in String(decoding: stream, as: UTF8.self).split(separator: "\n") where line.contains(text) {
            return String(line)
          }
        }
        return output.openPipes == 0 ? .some(nil) : nil
      }
    } catch { throw HarnessError.timedOut("a line with \"\(text)\" from \(name); it said:\n\(said)") }
    if let line { return line }
    throw HarnessError.exited("\(name) ended without a line with \"\(text)\"; it said:\n\(said)")
  }

  /// Waits until `probe` is true, as long as the program runs.
  func waitUntilReady(_ what: String, by deadline: Deadline = .standard, _ probe: () throws -> Bool) throws {
    do {
      try poll(what, by: deadline) {
        guard isRunning else { throw HarnessError.exited("\(name) ended before \(what)") }
        return ((try? probe()) ?? false) ? () : nil
      }
    } catch { throw HarnessError.exited("\(error); \(name) said:\n\(said)") }
  }

  /// Sends a signal to the program alone.
  func signal(_ number: Int32) { if isRunning { _ = Glibc.kill(pid, number) } }

  /// Stops the program with SIGSTOP, until SIGCONT. Waits until each of its threads stands still: on a busy machine one
  /// of them may go on for a while after the signal, and answer.
  func standStill() throws {
    signal(SIGSTOP)
    let folder = "/proc/\(pid)/task"
    try poll("\(name) to stand still") {
      let running = try FileManager.default.contentsOfDirectory(atPath: folder).filter { thread in
        // A thread that has ended meanwhile has no file.
        let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
        return status?.contains("State:\tT") == false
      }
      return running.isEmpty ? () : nil
    }
  }

  /// Waits for the end.
  func waitForExit(by deadline: Deadline = .standard) throws -> Exit {
    do { return try exit.take("\(name) to end", by: deadline) { $0 } } catch {
      throw HarnessError.timedOut("\(name) to end; it said:\n\(said)")
    }
  }

  /// Ends the program and whatever it started at once, and waits until it is gone.
  func stop() {
    _ = kill(-pid, SIGKILL)
    _ = try? waitForExit()
  }

  /// Runs a program to its end, and answers how it ended and what it said.
  static func run(
    _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
    by deadline: Deadline = .standard
  ) throws -> (exit: Exit, standardOutput: String, standardError: String) {
    let process = try ServerProcess(executable, arguments, environment: environment, directory: directory)
    defer { process.stop() }
    let exit = try process.waitForExit(by: deadline)
    try process.waitForEndOfOutput(by: deadline)
    return (exit, process.standardOutput, process.standardError)
  }

  private var said: String { standardOutput + standardError }

  // MARK: Implementation

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw HarnessError.system("pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func collect(
    _ descriptor: Int32, into output: Watched<Output>, _ append: @escaping @Sendable (inout Output, [UInt8]) -> Void
  ) {
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count == -1 && errno == EINTR { continue }
        guard count > 0 else { break }
        output.update { append(&$0, Array(buffer[..<count])) }
      }
      close(descriptor)
      output.update { $0.openPipes -= 1 }
    }
  }
}
