import ArgumentParser
import ConfigurationFile

/// `cordon check`: every problem of a configuration, or what it means.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks a configuration file.",
    discussion: """
      Reports every error on a line: FILE:LINE:COLUMN: problem; remedy; of more than 50 the first ones. It also checks \
      the files that the configuration names. It uses no network; see `cordon doctor` for that. Warnings point out \
      possible mistakes and do not change the exit status.

      With --explain it shows for each route, and for each of its methods if they differ, who is admitted, the \
      conditions and the upstream, and the line of the file that decides each.

      Exit status: 0 if the configuration is valid, 78 if not, 64 for a usage error.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config = ConfigurationFile.defaultPath

  @Argument(help: ArgumentHelp("The same without --config.", valueName: "file"), completion: .file())
  var file: String?

  @Flag(name: .long, help: "Show for each route who is admitted, and by which line.")
  var explain = false

  @Flag(name: .long, help: "Print errors and warnings only.")
  var quiet = false

  func validate() throws {
    guard file == nil || config == ConfigurationFile.defaultPath else {
      throw ValidationError("Name the file once: as the argument, or with --config.")
    }
    if explain, quiet { throw ValidationError("Give --explain or --quiet, not both.") }
  }

  func run() throws {
    do throws(ConfigurationError) {
      let checked = try ConfigurationFile.check(file ?? config, files: .systemWithStore)
      if explain {
        Self.explain(checked.explanations)
      } else if !quiet {
        TerminalLines().printTable(checked.configuration.summary)
      }
      if explain || !quiet { print("\nThe configuration is valid.") }
      for warning in checked.warnings { print(warning) }
    } catch {
      // Standard output: the problems are what was asked for.
      print(error)
      throw error.exit
    }
  }

  /// A block for each route, an empty line between them. Settings that differ by method follow those methods, indented.
  /// The texts are in one column, whatever the names and the indentation of a block.
  private static func explain(_ routes: [RouteExplanation]) {
    let lines = TerminalLines()
    let outer = routes.flatMap(\.facts).map(\.name.count)
    let inner = routes.flatMap(\.parts).flatMap(\.facts).map { $0.name.count + 2 }
    let width = (outer + inner).max() ?? 0
    for (index, route) in routes.enumerated() {
      if index > 0 { print("") }
      print(printable(route.title))
      lines.printTable(route.facts.map { ($0.name, $0.text) }, indentation: 2, nameWidth: width)
      for part in route.parts {
        print("  " + lines.fitted(printable(part.title), indentation: 2))
        lines.printTable(part.facts.map { ($0.name, $0.text) }, indentation: 4, nameWidth: width - 2)
      }
    }
  }
}
