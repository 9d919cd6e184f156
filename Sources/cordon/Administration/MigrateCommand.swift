import ArgumentParser
import Gateway
import WebFormats

/// `cordon accounts migrate`: an application goes to another team, and its users follow.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates all accounts when the application is transferred to another team.",
    discussion: """
      A user has a different identifier (sub) for each team. Before the transfer, run it with --to TEAM and the old \
      team's configuration: it requests a transfer identifier from Apple for each account, which is valid for 60 days. \
      After the transfer, run it with --complete and the new team's team_id, key_id and key: each account moves to its \
      new sub with its sessions, and a line "OLD<tab>NEW" is printed for the application; nobody is signed out. With \
      --json each account is a line of JSON with its result.

      It can be interrupted and repeated at any time: completed accounts are skipped, and their lines printed again. \
      Progress is written to standard error.

      Exit status: 0 if all accounts are migrated, 1 if not, 78 if the configuration is invalid.
      """)

  @OptionGroup var gateway: RunningGatewayOptions

  @Option(help: ArgumentHelp("Prepare the migration to this team.", valueName: "team"))
  var to: String?

  @Flag(help: "Complete the migration to the team of the configuration.")
  var complete = false

  @Flag(help: "Only report the number of accounts to migrate.")
  var dryRun = false

  func validate() throws {
    guard (to != nil) != complete else { throw ValidationError("Give --to TEAM, or --complete.") }
    if let to, !(to.utf8.count == 10 && to.utf8.allSatisfy(\.isASCIILetterOrDigit)) {
      throw ValidationError("A Team ID is ten letters and digits, as in DEF123GHIJ.")
    }
  }

  func run() async throws {
    try await gateway.perform("accounts migrate") { client in
      var counts: [String: Int] = [:]
      var after: String?
      while true {
        let page = try await client.migrate(to: to, after: after, dryRun: dryRun)
        for result in page.results {
          counts[result.outcome, default: 0] += 1
          try tell(result)
        }
        if let problem = page.stopped {
          printError("cordon accounts migrate: \(printable(problem)); what was done is done: run it again")
          printError(Self.summary(counts))
          throw ExitCode.failure
        }
        printError(Self.summary(counts))
        guard let next = page.next else { break }
        after = next
      }
      let unfinished = ["refused", "failed"].compactMap { counts[$0] }.reduce(0, +)
      if unfinished > 0 { throw ExitCode.failure }
    }
  }

  private func tell(_ result: MigrationReport.Result) throws {
    if gateway.json { return try printJSONLine(result) }
    if let message = result.message { printError("\(result.subject): \(result.outcome): \(printable(message))") }
    if let new = result.newSubject { print("\(result.subject)\t\(new)") }
  }

  /// `12 done, 3 done_before`.
  private static func summary(_ counts: [String: Int]) -> String {
    let words = counts.sorted { $0.key < $1.key }.map { outcome, count in
      outcome == "would_be_done" ? "\(count) account\(count == 1 ? "" : "s") would be migrated" : "\(count) \(outcome)"
    }
    return words.isEmpty ? "There are no accounts." : words.joined(separator: ", ")
  }
}
