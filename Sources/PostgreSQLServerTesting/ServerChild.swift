import Dispatch
import Foundation
import Processes
import Synchronization
import TemporaryDirectoryTesting

/// A process that ends with the tests at the latest.
final class ServerChild: Sendable {
  let pid: pid_t
  private let end: EndOfChild

  /// Starts a program whose output goes to a file.
  ///
  /// On a thread of its own, which lives as long as the child: the kernel ends a child with a parent-death signal when
  /// the thread that started it ends, and those of Swift's tasks come and go.
  init(_ command: [String], output: String) throws {
    let end = EndOfChild()
    self.end = end
    Thread.detachNewThread {
      let pid = Result { try Self.spawn(command, output: output) }
      end.note(started: pid)
      guard case .success(let pid) = pid else { return }
      var status: Int32 = 0
      while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
      end.note(ended: status)
    }
    pid = try end.waitForStart()
  }

  var isRunning: Bool { end.status == nil }

  func signal(_ number: Int32) { if isRunning { _ = Glibc.kill(pid, number) } }

  func kill() {
    signal(SIGCONT)
    signal(SIGKILL)
    _ = try? waitForEnd()
  }

  /// - Returns: the status of `waitpid`.
  @discardableResult
  func waitForEnd() throws -> Int32 {
    guard let status = end.waitForEnd(by: Date(timeIntervalSinceNow: 60)) else {
      throw PostgreSQLServerError("waited in vain for a process to end")
    }
    return status
  }

  /// Runs a program to its end.
  /// - Returns: what it wrote.
  @discardableResult
  static func run(_ command: [String]) throws -> String {
    let folder = try TemporaryDirectory()
    let output = folder.file("output")
    let status = try ServerChild(command, output: output).waitForEnd()
    let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
    guard status == 0 else { throw PostgreSQLServerError("\(command[0]) failed: \(text)") }
    return text
  }

  private static func spawn(_ command: [String], output: String) throws -> pid_t {
    var spawn = Spawn(command[0], Array(command.dropFirst()), output: .file(output))
    spawn.environment = ["PATH=/usr/bin:/bin", "LC_ALL=C"]
    do throws(SpawnError) { return try spawn.start() } catch {
      throw PostgreSQLServerError("\(command[0]): \(error.reason)")
    }
  }
}

/// The exit of a child process, for threads that wait for it.
private final class EndOfChild: Sendable {
  private let state = Mutex(State())
  private let hasStarted = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  private struct State {
    var started: Result<pid_t, any Error>?
    var status: Int32?
  }

  var status: Int32? { state.withLock { $0.status } }

  func note(started: Result<pid_t, any Error>) {
    state.withLock { $0.started = started }
    hasStarted.signal()
  }

  func note(ended status: Int32) {
    state.withLock { $0.status = status }
    hasEnded.signal()
  }

  func waitForStart() throws -> pid_t {
    hasStarted.wait()
    guard let started = state.withLock({ $0.started }) else { throw PostgreSQLServerError("nothing was started") }
    return try started.get()
  }

  func waitForEnd(by deadline: Date) -> Int32? {
    guard hasEnded.wait(timeout: .now() + deadline.timeIntervalSinceNow) == .success else { return nil }
    // For other waiting tasks.
    hasEnded.signal()
    return status
  }
}
