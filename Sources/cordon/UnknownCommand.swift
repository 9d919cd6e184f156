import ArgumentParser
import WebFormats

/// A first argument that is no command, with the command that was probably meant.
enum UnknownCommand {
  /// The error for these arguments of the program; nil if they begin with a command or an option.
  static func error(in arguments: [String]) -> ValidationError? {
    guard let word = arguments.first, word.utf8.first != UInt8(ascii: "-"), word != "help" else { return nil }
    let commands = CordonCommand.configuration.subcommands
    let names = commands.compactMap { $0.configuration.commandName }
    guard !names.contains(word) else { return nil }
    let problem = "There is no command \(printable(word))"
    // `cordon migrate` for `cordon accounts migrate`.
    let places = commands.compactMap { command in
      let below = command.configuration.subcommands.compactMap { $0.configuration.commandName }
      return below.contains(word) ? command.configuration.commandName.map { "cordon \($0) \(word)" } : nil
    }
    if !places.isEmpty { return ValidationError("\(problem); did you mean \(places.joined(separator: " or "))?") }
    guard let nearest = NearestKey.find(word, among: names) else { return ValidationError("\(problem).") }
    return ValidationError("\(problem); did you mean cordon \(nearest)?")
  }
}
