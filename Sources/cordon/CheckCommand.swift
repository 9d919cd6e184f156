import ArgumentParser
import ConfigurationFile

/// `cordon check`: every problem of a configuration, or what it means.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks a configuration file.",
    discussion: """
      Tells every mistake, one a line: FILE:LINE:COLUMN: what is wrong; and the remedy. The files that the configuration \
      names are looked at, too. Nothing is contacted: that is what `cordon doctor` does. Warnings are about what may not \
      be meant, and change no exit status.

      With --explain it tells for each route who passes, what is asked of them, where requests go, and by which line of \
      the file each of it holds.

      Exit status: 0 if everything is in order, 78 if not, 64 if this command was not written correctly.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config: String

  @Flag(name: .long, help: "Tells for each route who passes, and by which line.")
  var explain = false

  func run() throws {
    do throws(ConfigurationProblems) {
      let checked = try ConfigurationFile.check(config)
      if explain {
        Self.explain(checked.explanations)
      } else {
        TerminalLines().printTable(checked.configuration.summary)
      }
      if !checked.warnings.isEmpty { print("") }
      for warning in checked.warnings { print(warning) }
    } catch {
      // Standard output: the problems are what was asked for.
      print(error)
      throw ExitCode(ExitStatus.configuration)
    }
  }

  /// A block for each route, an empty line between them.
  private static func explain(_ routes: [RouteExplanation]) {
    let lines = TerminalLines()
    for (index, route) in routes.enumerated() {
      if index > 0 { print("") }
      print(printable(route.title))
      lines.printTable(route.facts.map { ($0.name, $0.text) }, indentation: 2, nameWidth: 10)
    }
  }
}
