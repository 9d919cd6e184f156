import ArgumentParser
import Gateway

/// `cordon tokens`: tokens for machines.
struct TokensCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tokens", abstract: "Creates, lists and revokes tokens for machines.",
    subcommands: [Create.self, List.self, Revoke.self])

  /// `cordon tokens create`.
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Creates a token for a machine and prints it.",
      discussion: """
        The token is printed once, and cannot be shown again. Send it as Authorization: Bearer TOKEN, or as the \
        password of HTTP Basic with the user "token", to routes with tokens = true that admit its group.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Option(help: ArgumentHelp("The name: letters, digits, \"-\", \"_\" and \".\".", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("The group that it is in.", valueName: "group"))
    var group: String

    @Option(
      help: ArgumentHelp(
        "Its end: a duration from now such as 90d, 2026-12-31 (the end of that day, UTC), or RFC 3339; at most 366 "
          + "days. Default: none.", valueName: "date"))
    var expires: String?

    func run() async throws {
      try await gateway.perform("tokens create") { client in
        try await client.createToken(name: name, group: group, expires: expires)
      } tell: { token in
        try printOnce(
          gateway.json ? try jsonText(token) : token.token ?? "",
          ifLost: "the token \(token.name) exists, but was not shown: revoke it with cordon tokens revoke "
            + "\(token.name), then create it again")
        if gateway.json { return }
        printError(
          "Token \(token.name) is in \(token.group) and "
            + (token.expires.map { "ends at \(TableTime.minute($0))" } ?? "does not end by itself")
            + ". It is not shown again.")
      }
    }
  }

  /// `cordon tokens list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists tokens, by name.")

    @OptionGroup var gateway: RunningGatewayOptions

    func run() async throws {
      try await gateway.perform("tokens list", acceptsInvalidFile: true) { client in
        try await client.tokens()
      } tell: { report in
        let tokens = report.tokens
        noteDamaged(report.damaged, remedy: "remove it with `cordon tokens revoke NAME`")
        if gateway.json { return try printJSON(tokens) }
        if tokens.isEmpty, report.damaged != nil { return }
        guard !tokens.isEmpty else {
          return print("There are no tokens: cordon tokens create --name NAME --group GROUP makes one.")
        }
        var table = TextTable(["NAME", "GROUP", "CREATED", "ENDS", "STATE"])
        table.print(
          tokens.map {
            [
              $0.name, $0.group, TableTime.minute($0.created), $0.expires.map(TableTime.minute) ?? "never",
              $0.valid ? "valid" : "expired",
            ]
          })
      }
    }
  }

  /// `cordon tokens revoke`.
  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke", abstract: "Revokes a token; its name is free again.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: "The token's name, from `cordon tokens list`.")
    var name: String

    func run() async throws {
      try await gateway.perform("tokens revoke", acceptsInvalidFile: true) { client in
        try await client.revokeToken(name)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("Token \(report.revoked) is revoked.")
      }
    }
  }
}
