import ArgumentParser
import Gateway

/// `cordon invitations`: links that admit to a group.
struct InvitationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invitations", abstract: "Creates, lists and revokes invitations to a group.",
    subcommands: [Create.self, List.self, Revoke.self])

  /// `cordon invitations create`.
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Creates an invitation and prints its link.",
      discussion: """
        The link is printed once, and cannot be shown again. A user who opens it, signs in and presses the button joins \
        the group.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Option(help: ArgumentHelp("The group.", valueName: "group"))
    var group: String

    @Option(help: ArgumentHelp("The number of users whom it admits, 1 to 10,000.", valueName: "count"))
    var uses = 1

    @Option(
      help: ArgumentHelp(
        "Its end: a duration from now such as 7d, 2026-12-31 (the end of that day, UTC), or RFC 3339; at most 366 "
          + "days.",
        valueName: "date"))
    var expires = "7d"

    @Option(help: ArgumentHelp("A note for lists.", valueName: "text"))
    var note: String?

    func run() async throws {
      try await gateway.perform("invitations create") { client in
        try await client.invite(to: group, uses: uses, expires: expires, note: note)
      } tell: { invitation in
        try printOnce(
          gateway.json ? try jsonText(invitation) : invitation.link ?? "",
          ifLost: "the invitation \(invitation.id) exists, but its link was not shown: revoke it with cordon "
            + "invitations revoke \(invitation.id), then create another")
        if gateway.json { return }
        printError(
          "Invitation \(invitation.id) admits \(invitation.uses == 1 ? "one user" : "\(invitation.uses) users") to "
            + "\(invitation.group) until \(TableTime.minute(invitation.expires)). The link is not shown again.")
      }
    }
  }

  /// `cordon invitations list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists invitations, newest first.")

    @OptionGroup var gateway: RunningGatewayOptions

    func run() async throws {
      try await gateway.perform("invitations list", acceptsInvalidFile: true) { client in
        try await client.invitations()
      } tell: { report in
        let invitations = report.invitations
        noteDamaged(report.damaged, remedy: "remove it with `cordon invitations revoke ID`")
        if gateway.json { return try printJSON(invitations) }
        if invitations.isEmpty, report.damaged != nil { return }
        guard !invitations.isEmpty else {
          return print("There are no invitations: cordon invitations create --group GROUP makes one.")
        }
        var table = TextTable(["ID", "GROUP", "USED", "ENDS", "STATE", "NOTE"])
        table.print(
          invitations.map {
            [
              $0.id, $0.group, "\($0.used) of \($0.uses)", TableTime.minute($0.expires), $0.open ? "open" : "closed",
              $0.note ?? "",
            ]
          })
      }
    }
  }

  /// `cordon invitations revoke`.
  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke", abstract: "Ends an invitation; those whom it admitted stay members.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: "The invitation's ID, from `cordon invitations list`.")
    var id: String

    func run() async throws {
      try await gateway.perform("invitations revoke", acceptsInvalidFile: true) { client in
        try await client.revokeInvitation(id)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("Invitation \(report.revoked) is revoked.")
      }
    }
  }
}
