import ArgumentParser
import Processes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command. Each subcommand is a file of its own.
struct CordonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cordon",
    abstract: "Sign in with Apple in front of a web application.",
    version: version,
    subcommands: [
      InitCommand.self, RunCommand.self, CheckCommand.self, DoctorCommand.self, ReadyCommand.self, ReloadCommand.self,
      DemoCommand.self, KeygenCommand.self, ReferenceCommand.self, ImportCommand.self, AccountsCommand.self,
      SessionsCommand.self, GroupsCommand.self, RequestsCommand.self, InvitationsCommand.self, TokensCommand.self,
      StoreCommand.self,
    ])

  /// The version of this source.
  static let version = "0.1.0"

  /// The arguments of the process, without its name.
  private static var arguments: [String] { Array(ProcessArguments.all.dropFirst()) }

  /// Changes what holds for the whole process. To be called before there is a second thread: libdispatch opens
  /// descriptors, which get the numbers of closed ones.
  static func prepareProcess() {
    forbidCoreDumps()
    extendHeapsInLargeSteps()
    occupyClosedDescriptors(discardsOutput: arguments.first == "run")
    // A reader that goes away is an error of the write, which `print` takes care of.
    signal(SIGPIPE, SIG_IGN)
  }

  static func main() async {
    let arguments = Self.arguments
    do {
      if let command = RunCommand(plain: arguments) {
        try await command.run()
      } else {
        if let unknown = UnknownCommand.error(in: arguments) { throw unknown }
        var command = try await asyncParseAsRoot(SessionsCommand.separatingHandle(in: arguments))
        if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
      }
    } catch {
      end(withError: error)
    }
    if StandardOutput.failure != nil {
      StandardOutput.reportFailure()
      Self.exit(withError: ExitCode(ExitStatus.outputFailed))
    }
  }

  /// Ends the process as `exit(withError:)` of the parser does, with checked output.
  private static func end(withError error: any Error) -> Never {
    guard !(error is OutputError) else {
      StandardOutput.reportFailure()
      exit(withError: ExitCode(ExitStatus.outputFailed))
    }
    let code = exitCode(for: error)
    let message = fullMessage(for: error)
    if !message.isEmpty {
      if code.isSuccess {
        print(message)
      } else {
        printError(message)
      }
    }
    StandardOutput.reportFailure()
    exit(withError: code.isSuccess && StandardOutput.failure != nil ? ExitCode(ExitStatus.outputFailed) : code)
  }

  /// Memory holds Apple's key, the session secrets and refresh tokens: no crash may write them to a disk. By the limit,
  /// hard and soft, and not by `PR_SET_DUMPABLE`, which would give the process's files in /proc to root and hide it
  /// from the tools of its own user. Collectors that core_pattern pipes to (systemd-coredump, apport) go by the limit
  /// too.
  private static func forbidCoreDumps() {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
      let resource = RLIMIT_CORE
    #endif
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    // Refused at worst by a filter of system calls; the unit that has one sets the limit itself.
    _ = setrlimit(resource, &none)
  }

  /// Opens those of standard input, output and error that are closed (`>&-`): a socket or the store would get their
  /// number otherwise, and messages would be written into it.
  /// - Parameter discardsOutput: whether writes to a closed standard output are to succeed; otherwise they fail.
  private static func occupyClosedDescriptors(discardsOutput: Bool) {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      let fails = descriptor == STDOUT_FILENO && !discardsOutput
      // The lowest free number, which is this one.
      _ = open("/dev/null", fails ? O_RDONLY : O_RDWR)
    }
  }

  /// Has the GNU C library extend heaps by half a MiB at once, which takes no memory until it is used. By default it
  /// extends the heaps of all threads but the first by single pages, with a system call for each: a hundred in a start.
  /// To be called before there is a second thread.
  private static func extendHeapsInLargeSteps() {
    // Swift does not see malloc.h; other libraries have no such function.
    guard let symbol = dlsym(nil, "mallopt") else { return }
    let set = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
    _ = set(topPad, 1 << 19)
  }

  /// `M_TOP_PAD` of malloc.h.
  private static let topPad: CInt = -2
}
