import ArgumentParser
import WebFormats

/// An argument that stands where a command is expected and names no command, with the command that was probably meant.
enum UnknownCommand {
  /// The error for these arguments of the program; nil if they begin with a command or an option. `help` may stand
  /// before the command.
  static func error(in arguments: [String]) -> ValidationError? {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let word = words.first, isWord(word), word != "help" else { return nil }
    guard let command = commands.first(where: { $0.configuration.commandName == word }) else { return error(for: word) }
    guard let second = words.dropFirst().first, isWord(second) else { return nil }
    return error(for: second, below: command)
  }

  private static var commands: [any ParsableCommand.Type] { CordonCommand.configuration.subcommands }

  /// Whether an argument is no option.
  private static func isWord(_ argument: String) -> Bool { argument.utf8.first != UInt8(ascii: "-") }

  private static func names(below command: any ParsableCommand.Type) -> [String] {
    command.configuration.subcommands.compactMap { $0.configuration.commandName }
  }

  private static func error(for word: String) -> ValidationError {
    let problem = "There is no command \(printable(word))"
    // `cordon migrate` for `cordon accounts migrate`.
    let places = commands.compactMap { command in
      names(below: command).contains(word) ? command.configuration.commandName.map { "cordon \($0) \(word)" } : nil
    }
    if !places.isEmpty { return ValidationError("\(problem); did you mean \(places.joined(separator: " or "))?") }
    guard let nearest = NearestKey.find(word, among: names(below: CordonCommand.self)) else {
      return ValidationError("\(problem).")
    }
    return ValidationError("\(problem); did you mean cordon \(nearest)?")
  }

  /// The error for the word after a command that has commands of its own; nil if it is one of these, or if the command
  /// has none.
  private static func error(for word: String, below command: any ParsableCommand.Type) -> ValidationError? {
    let names = names(below: command)
    guard let group = command.configuration.commandName, let last = names.last, !names.contains(word) else {
      return nil
    }
    let problem = "There is no command \(group) \(printable(word))"
    if let nearest = NearestKey.find(word, among: names) {
      return ValidationError("\(problem); did you mean cordon \(group) \(nearest)?")
    }
    let others = names.dropLast().joined(separator: ", ")
    let choice = others.isEmpty ? last : "\(others) or \(last)"
    return ValidationError("\(problem); after cordon \(group) write \(choice).")
  }
}
