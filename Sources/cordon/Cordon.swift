import ArgumentParser

/// The command. Each subcommand is a file of its own.
@main
struct CordonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cordon",
    abstract: "Sign in with Apple in front of a web application.",
    subcommands: [CheckCommand.self, KeygenCommand.self, ReferenceCommand.self])
}
