import Foundation
import TemporaryDirectoryTesting
import Testing

// What shells know of the command.
//
// - bash offers every command, and every option of each; files where a file is meant.
// - zsh's script names the same. (Both are in the package.)

@SystemActor
@Suite("Completions")
struct CompletionTests {
  /// A command as the program describes itself.
  private struct Command: Decodable {
    var commandName: String
    var subcommands: [Command]?
    var arguments: [Argument]?
    var shouldDisplay: Bool?

    struct Argument: Decodable {
      var kind: String
      var names: [Name]?
      var shouldDisplay: Bool?
    }

    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var commands: [Command] { (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" } }

    /// The long options.
    var options: [String] {
      (arguments ?? []).filter { $0.shouldDisplay != false }.flatMap { $0.names ?? [] }
        .filter { $0.kind == "long" }.map { "--\($0.name)" }
    }

    /// This one and all below, with the words that call each.
    func all(_ words: [String] = []) -> [(words: [String], command: Command)] {
      let words = words + [commandName]
      return [(words, self)] + commands.flatMap { $0.all(words) }
    }
  }

  private struct Description: Decodable { var command: Command }

  private func cordon(_ arguments: String...) throws -> String {
    try ServerProcess.run(Machine.binary("cordon"), arguments).standardOutput
  }

  private func commands() throws -> [(words: [String], command: Command)] {
    try JSONDecoder().decode(Description.self, from: Data(cordon("--experimental-dump-help").utf8)).command.all()
  }

  /// The completions of bash for the last of these words.
  private func offers(_ lines: [[String]], in directory: String) throws -> [Set<String>] {
    var script = ". completion\n"
    for words in lines {
      let line = words.joined(separator: " ")
      script += """
        COMPREPLY=(); COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
        COMP_LINE='\(line)'; COMP_POINT=\(line.utf8.count)
        _cordon cordon '\(words[words.count - 1])' '\(words[words.count - 2])'; echo "offers ${COMPREPLY[*]}"

        """
    }
    let bash = try ServerProcess.run(
      Machine.program("bash", package: "bash"), ["--norc", "-c", script], directory: directory)
    let answers = bash.standardOutput.split(separator: "\n").filter { $0.hasPrefix("offers") }
    guard answers.count == lines.count else { throw HarnessError.malformed(bash.standardError) }
    return answers.map { Set($0.split(separator: " ").dropFirst().map(String.init)) }
  }

  @Test("bash offers every command and option, and files where one is meant")
  func bash() throws {
    let directory = try TemporaryDirectory()
    try directory.write(cordon("--generate-completion-script", "bash"), to: "completion")
    try directory.write("", to: "gateway.conf")
    let commands = try commands()
    #expect(commands.count > 18)
    let options = try offers(commands.map { $0.words + ["--"] }, in: directory.path)
    for ((words, command), offered) in zip(commands, options) {
      #expect(offered.isSuperset(of: command.options), "\(words)")
    }
    let groups = commands.filter { !$0.command.commands.isEmpty }
    for ((words, command), offered) in zip(groups, try offers(groups.map { $0.words + [""] }, in: directory.path)) {
      #expect(offered.isSuperset(of: command.commands.map(\.commandName)), "\(words)")
    }
    let files = commands.filter { $0.command.options.contains("--config") }
    for ((words, _), offered) in zip(
      files, try offers(files.map { $0.words + ["--config", "gate"] }, in: directory.path))
    {
      #expect(offered == ["gateway.conf"], "\(words)")
    }
    #expect(files.count > 8)
  }

  @Test("zsh is told of every command and option")
  func zsh() throws {
    let script = try cordon("--generate-completion-script", "zsh")
    for (words, command) in try commands() {
      let parts = script.components(separatedBy: "\n_\(words.joined(separator: "_"))() {")
      try #require(parts.count == 2, "\(words)")
      let body = parts[1].components(separatedBy: "\n}")[0]
      for option in command.options { #expect(body.contains(option), "\(words) \(option)") }
      for sub in command.commands { #expect(body.contains("'\(sub.commandName):"), "\(words) \(sub.commandName)") }
    }
  }
}
