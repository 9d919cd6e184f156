import ArgumentParser
import Gateway

/// Notes on standard error that a list goes without records that are damaged.
///
/// - Parameters:
///   - names: their names, nil where one cannot be read.
///   - remedy: the command that removes one of them.
func noteDamaged(_ names: [String?]?, remedy: String) {
  for name in names ?? [] {
    let text = name.map { printable($0) } ?? "a record without a readable name"
    printError("note: \(text) is damaged and not listed; \(remedy)")
  }
}

/// The remedy for an account that is damaged.
let accountRemedy =
  "restore the store from a backup, or remove the account with `cordon accounts disconnect --force SUB`"

/// Prints a long list page by page: a table, or a JSON array with `--json`.
struct PagedList<Element: Encodable> {
  private let gateway: RunningGatewayOptions
  private var table: TextTable
  private var count = 0
  private let row: (Element) -> [String]

  init(_ gateway: RunningGatewayOptions, headings: [String], row: @escaping (Element) -> [String]) {
    self.gateway = gateway
    table = TextTable(headings)
    self.row = row
  }

  /// Prints everything.
  /// - Parameters:
  ///   - name: what is listed, for the progress line.
  ///   - ifEmpty: the text for an empty list.
  ///   - remedy: the command for an element that is damaged.
  ///   - ask: a page after this place, the place to go on after, and the names of elements that are damaged.
  mutating func print(
    _ name: String, ifEmpty: String, remedy: String,
    ask: (String?) async throws -> (elements: [Element], next: String?, damaged: [String?]?)
  ) async throws {
    let progress = Progress()
    var damaged: [String?] = []
    var after: String?
    repeat {
      progress.show(count == 0 ? "Asking the gateway" : "\(LongWork.grouped(count)) \(name)")
      let page: (elements: [Element], next: String?, damaged: [String?]?)
      do {
        page = try await ask(after)
      } catch {
        progress.clear()
        throw error
      }
      progress.clear()
      try print(page.elements)
      damaged += page.damaged ?? []
      after = page.next
    } while after != nil
    if gateway.json {
      cordon.print(count == 0 ? "[]" : "\n]")
    } else if count == 0, damaged.isEmpty {
      cordon.print(ifEmpty)
    }
    noteDamaged(damaged, remedy: remedy)
  }

  private mutating func print(_ elements: [Element]) throws {
    guard !elements.isEmpty else { return }
    if gateway.json {
      for element in elements {
        cordon.print(count == 0 ? "[" : ",")
        cordon.print(try jsonLine(element), terminator: "")
        count += 1
      }
    } else {
      table.print(elements.map(row))
      count += elements.count
    }
  }
}

extension AccountsCommand {
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
      try await gateway.perform("accounts list") { client in
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
      try await gateway.perform("accounts ban") { client in
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
