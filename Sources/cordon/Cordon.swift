import ArgumentParser

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
      SessionsCommand.self, StoreCommand.self,
    ])

  /// The version of this source.
  static let version = "0.1.0"

  static func main() async {
    await main(SessionsCommand.separatingHandle(in: Array(CommandLine.arguments.dropFirst())))
  }
}
