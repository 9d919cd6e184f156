package import Glibc

/// A program to start as a child process, as from a fresh shell: standard input is `/dev/null`, signals have their
/// defaults, none is blocked (threads of the concurrency runtime block nearly all), and it inherits no other
/// descriptors than those that are passed on.
package struct Spawn: Sendable {
  private let program: String
  private let arguments: [String]
  private let output: Output
  /// The environment, each variable as `NAME=value`. Default: nil: that of this process.
  package var environment: [String]?
  /// Descriptors that the program finds as 3, 4 and so on. Default: none.
  package var inherited: [Int32] = []
  /// Whether it gets a process group of its own, so that Ctrl-C in a terminal does not reach it. Default: true.
  package var hasOwnGroup = true

  /// The destination of standard output and standard error.
  package enum Output: Sendable {
    /// Both go to the end of a file, which is created if it is not there.
    case file(String)
    /// Both go to a file, which is emptied first.
    case emptiedFile(String)
    /// Open descriptors of this process.
    case descriptors(output: Int32, errors: Int32)
  }

  /// A program, by its absolute path, in the current folder.
  package init(_ program: String, _ arguments: [String], output: Output) {
    self.program = program
    self.arguments = arguments
    self.output = output
  }

  /// Starts the program. The caller waits for its end.
  /// - Returns: the process ID.
  package func start() throws(SpawnError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Copied out of the way first, so that no descriptor takes the number of one that is still to be passed on.
    let copies = inherited.map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
    defer { for copy in copies { close(copy) } }
    addDescriptors(copies, to: &actions)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
    posix_spawnattr_setflags(&attributes, Int16(group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var pid: pid_t = 0
    let code: Int32
    if let environment {
      let variables = environment.map { strdup($0) } + [nil]
      defer { for variable in variables { free(variable) } }
      code = posix_spawn(&pid, program, &actions, &attributes, words, variables)
    } else {
      code = posix_spawn(&pid, program, &actions, &attributes, words, environ)
    }
    guard code == 0 else { throw SpawnError(errnoCode: code) }
    return pid
  }

  /// Adds what the child does with its descriptors before it becomes the program.
  private func addDescriptors(_ copies: [Int32], to actions: inout posix_spawn_file_actions_t) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    switch output {
    case .file(let path): addFile(path, O_APPEND, to: &actions)
    case .emptiedFile(let path): addFile(path, O_APPEND | O_TRUNC, to: &actions)
    case .descriptors(let output, let errors):
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    }
    let first = STDERR_FILENO + 1
    for (place, copy) in copies.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, copy, first + Int32(place))
    }
    // A child that outlives a test would else hold open the pipe or the connection that another test waits for the end
    // of: what is opened on one thread can be inherited by what is started on another before it is marked to be closed.
    // One by one, because Swift does not see glibc's `addclosefrom`. Closing what is not open is not a failure.
    let usual = first + Int32(copies.count)..<2_048
    for descriptor in Array(usual) + Self.openDescriptors(from: usual.upperBound) {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
  }

  /// The descriptors from a number on that are open in this process: those, too, that it inherited.
  private static func openDescriptors(from first: Int32) -> [Int32] {
    guard let folder = opendir("/proc/self/fd") else { return [] }
    defer { closedir(folder) }
    var open: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 }.map(\.self) }
      if let descriptor = Int32(String(decoding: name, as: UTF8.self)), descriptor >= first { open.append(descriptor) }
    }
    return open
  }

  private func addFile(_ path: String, _ flags: Int32, to actions: inout posix_spawn_file_actions_t) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | flags, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
  }
}

/// A program that could not be started.
package struct SpawnError: Error, Sendable, Equatable {
  /// The error of `posix_spawn`, a value of `errno`.
  package let errnoCode: Int32

  /// The system's text for the error.
  package var reason: String { String(cString: strerror(errnoCode)) }
}
