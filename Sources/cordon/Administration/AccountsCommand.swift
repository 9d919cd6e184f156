import ArgumentParser
import Gateway

/// `cordon accounts`: the accounts of a running gateway.
struct AccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Lists, finds, bans, disconnects and migrates accounts of a running gateway.",
    subcommands: [
      List.self, Find.self, Sessions.self, Ban.self, Unban.self, Disconnect.self, MigrateCommand.self,
    ])

  /// `cordon accounts list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists accounts with their groups, sessions and last use.",
      discussion: """
        --seen-since takes a date (2026-12-31, from the beginning of that day, UTC), a date and time (RFC 3339), or an \
        age such as 30d. --group includes members by configuration who have signed in before.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Option(help: ArgumentHelp("Only members of this group.", valueName: "group"))
    var group: String?

    @Option(help: ArgumentHelp("Only users seen since this date, or within this age.", valueName: "date"))
    var seenSince: String?

    func run() async throws {
      try await gateway.perform("accounts list", acceptsInvalidFile: true) { client in
        var list = PagedList<AccountReport>(
          gateway, headings: ["SUBJECT", "NAME", "ADDRESS", "GROUPS", "SESSIONS", "LAST SEEN", "BANNED"]
        ) { account in
          [
            account.subject, account.name ?? "", markedAddress(account.email, isVerified: account.emailVerified),
            (account.groups ?? []).joined(separator: ","), account.sessions.map { "\($0)" } ?? "",
            account.lastSeen.map(TableTime.minute) ?? "", account.ban.map(\.shortText) ?? "",
          ]
        }
        let isFiltered = group != nil || seenSince != nil
        try await list.print(
          "accounts",
          ifEmpty: isFiltered
            ? "No account matches. `cordon accounts list` without options lists all of them."
            : "There are no accounts: nobody has signed in yet.",
          remedy: accountRemedy
        ) { after in
          let page = try await client.accounts(group: group, seenSince: seenSince, after: after)
          return (page.accounts, page.next, page.damaged)
        }
      }
    }
  }

  /// `cordon accounts find`.
  struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "find", abstract: "Finds an account by Apple's subject or by its address.",
      discussion: """
        Exit status: 0 if an account is found, 1 if none is, also with --json, which then prints an empty array; 78 if \
        the configuration is invalid and the gateway cannot be asked.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Option(help: ArgumentHelp("Apple's identifier of the user (sub).", valueName: "sub"))
    var subject: String?

    @Option(help: "The most recent e-mail address, case-insensitive.")
    var email: String?

    func validate() throws {
      guard (subject == nil) != (email == nil) else { throw ValidationError("Give one of --subject and --email.") }
    }

    func run() async throws {
      try await gateway.perform("accounts find", acceptsInvalidFile: true) { client in
        if let subject { return try await client.accounts(subject: subject) }
        return try await client.accounts(email: email ?? "")
      } tell: { report in
        let accounts = report.accounts
        noteDamaged(report.damaged, remedy: accountRemedy)
        if gateway.json {
          try printJSON(accounts)
        } else if !accounts.isEmpty {
          print(accounts.map(\.text).joined(separator: "\n\n"))
        }
        guard accounts.isEmpty else { return }
        if report.damaged == nil {
          printError(
            "Nobody was found: `cordon accounts list` shows every account; an address is found as Apple last sent it, "
              + "which may be a relay address.")
        }
        throw ExitCode.failure
      }
    }
  }

  /// `cordon accounts sessions`.
  struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sessions", abstract: "Lists the sessions of an account, newest first.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: ArgumentHelp("Apple's identifier of the user (sub).", valueName: "sub"))
    var subject: String

    func run() async throws {
      try await gateway.perform("accounts sessions", acceptsInvalidFile: true) { client in
        try await client.sessions(of: subject)
      } tell: { report in
        let sessions = report.sessions
        noteDamaged(report.damaged, remedy: "end it with `cordon sessions end HANDLE`")
        if gateway.json { return try printJSON(sessions) }
        if sessions.isEmpty, report.damaged != nil { return }
        print(sessions.isEmpty ? "No sessions." : sessions.map(\.text).joined(separator: "\n\n"))
      }
    }
  }

  /// `cordon accounts disconnect`.
  struct Disconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "disconnect",
      abstract: "Revokes a user's tokens at Apple, ends the sessions, and deletes the user.",
      discussion: """
        Deletes a user's account. The user may sign in again; Apple then asks for consent and sends the name once \
        more. If Apple does not revoke a token, nothing is deleted, so that you can retry.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: ArgumentHelp("Apple's identifier of the user (sub).", valueName: "sub"))
    var subject: String

    @Flag(help: "Delete the user even if Apple does not revoke the tokens.")
    var force = false

    func run() async throws {
      try await gateway.perform("accounts disconnect", acceptsInvalidFile: true) { client in
        try await client.disconnect(subject, evenUnrevoked: force)
      } tell: { report in
        if gateway.json { try printJSON(report) } else { print(report.text) }
        if !report.forgotten { throw ExitCode.failure }
      }
    }
  }
}

/// The remedy for an account that is damaged.
private let accountRemedy =
  "restore the store from a backup, or remove the account with `cordon accounts disconnect --force SUB`"
