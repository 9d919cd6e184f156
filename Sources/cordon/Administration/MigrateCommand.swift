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

      Accounts that were not prepared, or for another team, are not migrated: standard error names them and the remedy.

      What bans and groups say of users without an account is prepared and migrated with the accounts. The account of \
      a user who signs in before --complete reaches it moves at that sign-in, and so does a ban.

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
      var progress = MigrationProgress()
      var after: String?
      while true {
        let page = try await client.migrate(to: to, after: after, dryRun: dryRun)
        for result in page.results {
          progress.note(result)
          try tell(result)
        }
        progress.unpreparedBans = page.unpreparedBans ?? 0
        if let problem = page.stopped {
          printError("cordon accounts migrate: \(printable(problem)); what was done is done: run it again")
          printError(progress.summary)
          throw ExitCode.failure
        }
        printError(progress.summary)
        guard let next = page.next else { break }
        after = next
      }
      for problem in progress.problems + progress.warnings {
        printError("cordon accounts migrate: \(printable(problem))")
      }
      if !progress.isComplete { throw ExitCode.failure }
    }
  }

  private func tell(_ result: MigrationReport.Result) throws {
    if gateway.json { return try printJSONLine(result) }
    // Reported once for all such accounts, at the end.
    if let message = result.message, result.outcome != .otherTeam {
      printError("\(result.subject): \(printable(result.outcome.rawValue)): \(printable(message))")
    }
    if let new = result.newSubject { print("\(result.subject)\t\(new)") }
  }
}

/// The results of a migration so far.
private struct MigrationProgress {
  private var counts: [MigrationReport.Outcome: Int] = [:]
  private var unprepared: [String] = []
  /// The messages about accounts that are prepared for another team, with their number: one for each such team.
  private var otherTeams: [String: Int] = [:]
  /// The new subjects of migrated accounts.
  private var arrived: Set<String> = []
  /// The number of bans that cannot be prepared.
  var unpreparedBans = 0

  mutating func note(_ result: MigrationReport.Result) {
    counts[result.outcome, default: 0] += 1
    if result.outcome == .notPrepared { unprepared.append(result.subject) }
    if result.outcome == .otherTeam, let message = result.message { otherTeams[message, default: 0] += 1 }
    if let new = result.newSubject { arrived.insert(new) }
  }

  /// Whether no account is left to migrate.
  var isComplete: Bool {
    // Those that were not prepared are among the remaining ones.
    remaining.isEmpty && counts.keys.allSatisfy { $0 == .notPrepared || $0.isFinal == true }
  }

  /// The outcomes that only a newer gateway knows.
  private var unknown: [String] { counts.keys.filter { $0.isFinal == nil }.map(\.rawValue).sorted() }

  /// The accounts that were not prepared. Not those under a new subject whose old account arrived later in the run:
  /// these are complete.
  private var remaining: [String] { unprepared.filter { !arrived.contains($0) } }

  /// The reasons why accounts were not migrated, with the remedies.
  var problems: [String] {
    var result = otherTeams.sorted { $0.key < $1.key }.map { message, count in
      "\(count) account\(count == 1 ? " is" : "s are") \(message)"
    }
    if !remaining.isEmpty {
      result += remaining.map { "\($0): \(MigrationReport.Outcome.notPrepared.rawValue)" }
      result.append(
        "\(remaining.count) account\(remaining.count == 1 ? " was" : "s were") not prepared before the transfer, and "
          + "not migrated: run it with --to TEAM and the old team's configuration, then again with --complete; users "
          + "who first signed in after the transfer are with the new team already and need nothing")
    }
    if !unknown.isEmpty {
      result.append(
        "the gateway is of a newer version, with results that are unknown here (\(unknown.joined(separator: ", "))): "
          + "run the command of that version")
    }
    return result
  }

  /// Warnings of bans that do not follow their users.
  var warnings: [String] {
    if unpreparedBans == 0 { return [] }
    return [
      "\(unpreparedBans) ban\(unpreparedBans == 1 ? "" : "s") will not hold for the new team: the accounts were "
        + "deleted, and only hashes of their subjects are stored; ban these users again by their present subjects "
        + "(cordon accounts ban SUB) and run it again, or ban them again when they appear"
    ]
  }

  /// `12 done, 3 done_before`.
  var summary: String {
    let words = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { outcome, count in
      outcome == .wouldBeDone
        ? "\(count) account\(count == 1 ? "" : "s") would be migrated" : "\(count) \(printable(outcome.rawValue))"
    }
    return words.isEmpty ? "There are no accounts." : words.joined(separator: ", ")
  }
}
