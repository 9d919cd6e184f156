import ArgumentParser
import Gateway
import WebFormats

/// `cordon accounts`: the accounts of a running gateway.
struct AccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Lists, finds, bans, disconnects and migrates accounts of a running gateway.",
    subcommands: [
      List.self, Find.self, Sessions.self, Ban.self, Unban.self, Disconnect.self, MigrateCommand.self,
    ])

  /// `cordon accounts find`.
  struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "find", abstract: "Finds an account by Apple's subject or by its address.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Option(help: ArgumentHelp("Apple's identifier of the user (sub).", valueName: "sub"))
    var subject: String?

    @Option(help: "The most recent e-mail address, case-insensitive.")
    var email: String?

    func validate() throws {
      guard (subject == nil) != (email == nil) else { throw ValidationError("Give --subject or --email.") }
    }

    func run() async throws {
      try await gateway.perform("accounts find") { client in
        if let subject { return try await client.accounts(subject: subject) }
        return try await client.accounts(email: email ?? "")
      } tell: { report in
        let accounts = report.accounts
        noteDamaged(report.damaged, remedy: accountRemedy)
        if gateway.json { return try printJSON(accounts) }
        if accounts.isEmpty, report.damaged != nil { throw ExitCode.failure }
        guard !accounts.isEmpty else {
          printError("Nobody was found.")
          throw ExitCode.failure
        }
        print(accounts.map(\.text).joined(separator: "\n\n"))
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
      try await gateway.perform("accounts sessions") { client in
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
      try await gateway.perform("accounts disconnect") { client in
        try await client.disconnect(subject, evenUnrevoked: force)
      } tell: { report in
        if gateway.json { try printJSON(report) } else { print(report.text) }
        if !report.forgotten { throw ExitCode.failure }
      }
    }
  }
}

/// `cordon sessions`: ends sessions at a running gateway.
struct SessionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "Ends sessions, at a running gateway.", subcommands: [End.self])

  /// The arguments for the parser: a session ID may begin with a hyphen, as one in sixty-four does, and must not be
  /// parsed as an option. It is moved to the end, after the `--` that ends the options.
  static func separatingHandle(in arguments: [String]) -> [String] {
    guard arguments.starts(with: ["sessions", "end"]), !arguments.contains("--"),
      let place = arguments.firstIndex(where: isHandleLikeOption)
    else { return arguments }
    var separated = arguments
    let handle = separated.remove(at: place)
    return separated + ["--", handle]
  }

  /// 22 characters of base64url, the first of them a hyphen: no option is so long.
  private static func isHandleLikeOption(_ argument: String) -> Bool {
    argument.utf8.count == 22 && argument.utf8.first == UInt8(ascii: "-")
      && argument.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// `cordon sessions end`.
  struct End: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "end",
      abstract: "Ends a session, or all sessions of a user, and closes their streams.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: "The session ID, from `cordon accounts sessions` or the audit log.")
    var handle: String?

    @Option(help: ArgumentHelp("End all sessions of this user instead.", valueName: "sub"))
    var all: String?

    func validate() throws {
      guard (handle == nil) != (all == nil) else { throw ValidationError("Give a session ID, or --all SUB.") }
    }

    func run() async throws {
      try await gateway.perform("sessions end") { client in
        if let all { return try await client.endSessions(of: all) }
        return try await client.endSession(handle ?? "")
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("\(report.ended) session\(report.ended == 1 ? "" : "s") ended.")
      }
    }
  }
}
