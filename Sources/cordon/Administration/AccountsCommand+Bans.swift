import ArgumentParser
import Gateway

extension AccountsCommand {
  /// `cordon accounts ban`.
  struct Ban: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ban", abstract: "Bans a user: ends all sessions, and refuses every sign-in.",
      discussion: """
        The ban takes effect within two seconds on every gateway, also for open connections. It replaces an earlier \
        one, and stays when the account is disconnected. A user can be banned by subject before the first sign-in.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(
      help: ArgumentHelp("Apple's identifier of the user, or the address of the account.", valueName: "sub|email"))
    var user: String

    @Option(
      help: ArgumentHelp(
        "The end of the ban: 2026-12-31 (the end of that day, UTC), RFC 3339, or a duration from now such as 30d. "
          + "Default: none.",
        valueName: "date"))
    var until: String?

    @Option(help: ArgumentHelp("A note for lists; the user does not see it.", valueName: "text"))
    var reason: String?

    func run() async throws {
      try await gateway.perform("accounts ban", acceptsInvalidFile: true) { client in
        try await noteUnlikely(user, client)
        return try await client.ban(try await client.subject(of: user), until: until, reason: reason)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        let end = report.ban.until.map { "until \(TableTime.minute($0))" } ?? "for good"
        let sessions = "\(report.ended) session\(report.ended == 1 ? "" : "s")"
        print("\(printable(report.subject)) is banned \(end); \(sessions) ended.")
      }
    }
  }

  /// `cordon accounts unban`.
  struct Unban: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unban", abstract: "Lifts a ban; the user can sign in again.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(
      help: ArgumentHelp("Apple's identifier of the user, or the address of the account.", valueName: "sub|email"))
    var user: String

    func run() async throws {
      try await gateway.perform("accounts unban") { client in
        try await client.unban(try await client.subject(of: user))
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("\(printable(report.subject)) is no longer banned.")
      }
    }
  }
}

extension BanReport {
  /// For a column of a table.
  var shortText: String { until.map { "until \(TableTime.minute($0))" } ?? "yes" }
}
