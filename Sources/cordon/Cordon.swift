import ArgumentParser
import Operations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command. Each subcommand is a file of its own.
@main
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

  static func main() async {
    forbidCoreDumps()
    extendHeapsInLargeSteps()
    let arguments = Array(ProcessArguments.all.dropFirst())
    if let command = RunCommand(plain: arguments) {
      do { try await command.run() } catch { exit(withError: error) }
    } else {
      await main(SessionsCommand.separatingHandle(in: arguments))
    }
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
