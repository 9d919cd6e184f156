import Glibc
import Processes

/// A program that was started here, until it has ended and was waited for. As long as it was not waited for, its
/// process ID belongs to no other process: only programs that were started here are ever signalled.
struct ChildProcess: ~Copyable {
  private var state: State

  private enum State {
    case running(pid_t)
    case ended
  }

  /// Starts a program in the current folder, with this process's environment, standard input from `/dev/null`, and no
  /// other descriptors of this process.
  ///
  /// It has a process group of its own, so that Ctrl-C in a terminal reaches this process alone, which then ends its
  /// children in their order.
  /// - Parameters:
  ///   - program: an absolute path.
  ///   - output: the file for standard output and standard error, which is emptied.
  init(_ program: String, _ arguments: [String], output: String) throws(SpawnError) {
    // A process that was started with SIGCHLD ignored would not be able to wait for its children.
    Glibc.signal(SIGCHLD, SIG_DFL)
    state = .running(try Spawn(program, arguments, output: .emptiedFile(output)).start())
  }

  /// Whether it still runs. One that has ended is waited for, so that nothing of it is left.
  var isRunning: Bool { mutating get { wait(WNOHANG) } }

  /// Sends a signal, if it still runs.
  mutating func signal(_ number: Int32) {
    if isRunning, case .running(let pid) = state { kill(pid, number) }
  }

  /// Waits until it has ended.
  mutating func waitForEnd() { _ = wait(0) }

  /// Waits with these options of `waitpid`; returns whether it still runs.
  private mutating func wait(_ options: Int32) -> Bool {
    guard case .running(let pid) = state else { return false }
    var status: Int32 = 0
    var result = waitpid(pid, &status, options)
    while result == -1, errno == EINTR { result = waitpid(pid, &status, options) }
    if result == 0 { return true }
    state = .ended
    return false
  }
}
