import Glibc

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
  /// children in their order. It gets no blocked signals: threads of the concurrency runtime block nearly all, and it
  /// would never hear SIGTERM.
  /// - Parameters:
  ///   - program: an absolute path.
  ///   - output: the file for standard output and standard error, which is emptied.
  init(_ program: String, _ arguments: [String], output: String) throws(StartError) {
    // A process that was started with SIGCHLD ignored would not be able to wait for its children.
    Glibc.signal(SIGCHLD, SIG_DFL)
    Self.closeDescriptorsOnExecution()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    let strings = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for string in strings { free(string) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, program, &actions, &attributes, strings, environ)
    guard code == 0 else { throw StartError(reason: String(cString: strerror(code))) }
    state = .running(pid)
  }

  /// The reason why a program could not be started.
  struct StartError: Error {
    let reason: String
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

  /// Marks the descriptors of this process but standard input, output and error to be closed in programs that it
  /// starts: those, too, that it inherited.
  private static func closeDescriptorsOnExecution() {
    guard let folder = opendir("/proc/self/fd") else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { $0.prefix { $0 != 0 }.map(\.self) }
      guard let descriptor = Int32(String(decoding: name, as: UTF8.self)), descriptor > STDERR_FILENO else { continue }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
  }
}
