import ArgumentParser
import ConfigurationFile

/// `cordon check`: every problem of a configuration, or what it means.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks a configuration file.",
    discussion: """
      Tells every mistake, one a line: FILE:LINE:COLUMN: what is wrong; and the remedy. The files that the configuration \
      names are looked at, too. Nothing is contacted: that is what `cordon doctor` does.

      Exit status: 0 if everything is in order, 78 if not, 64 if this command was not written correctly.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config: String

  func run() throws {
    do throws(ConfigurationProblems) {
      let configuration = try ConfigurationFile.load(config)
      TerminalLines().printTable(configuration.summary)
    } catch {
      // Standard output: the problems are what was asked for.
      print(error)
      throw ExitCode(ExitStatus.configuration)
    }
  }
}
