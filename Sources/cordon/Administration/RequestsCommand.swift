import ArgumentParser
import Gateway

/// `cordon requests`: users who ask for access.
struct RequestsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "requests", abstract: "Lists, admits and rejects users who ask for access.",
    discussion: """
      With access.requests = true, a signed-in user who is refused can ask for access, and gets a short code to \
      read out.
      """,
    subcommands: [List.self, Admit.self, Reject.self])

  /// `cordon requests list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists open requests, oldest first.")

    @OptionGroup var gateway: RunningGatewayOptions

    func run() async throws {
      try await gateway.perform("requests list", acceptsInvalidFile: true) { client in
        var list = PagedList<RequestReport>(
          gateway, headings: ["CODE", "SUBJECT", "NAME", "ADDRESS", "ASKED"]
        ) {
          [
            $0.code, $0.subject, $0.name ?? "", markedAddress($0.email, isVerified: $0.emailVerified),
            TableTime.minute($0.asked),
          ]
        }
        try await list.print(
          "requests", ifEmpty: "Nobody is waiting for access.",
          remedy: "`cordon accounts list` shows whether its account is; remove it with `cordon requests reject CODE`"
        ) { after in
          let page = try await client.requests(after: after)
          return (page.requests, page.next, page.damaged)
        }
      }
    }
  }

  /// `cordon requests admit`.
  struct Admit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "admit", abstract: "Admits the user of a request to a group.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: ArgumentHelp("The code of the request, or Apple's identifier of the user.", valueName: "code|sub"))
    var request: String

    @Option(help: ArgumentHelp("The group.", valueName: "group"))
    var group: String

    func run() async throws {
      try await gateway.perform("requests admit") { client in
        try await client.admit(request, to: group)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("\(printable(report.subject)) is in \(group).")
      }
    }
  }

  /// `cordon requests reject`.
  struct Reject: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reject", abstract: "Deletes a request; the user can ask again.",
      discussion: "`cordon accounts ban` keeps the user from asking again.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: ArgumentHelp("The code of the request, or Apple's identifier of the user.", valueName: "code|sub"))
    var request: String

    func run() async throws {
      try await gateway.perform("requests reject", acceptsInvalidFile: true) { client in
        try await client.reject(request)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("The request \(report.code) of \(printable(report.subject)) is rejected.")
      }
    }
  }
}
