import ArgumentParser
import Gateway

/// `cordon groups`: members of groups who are added while the gateway runs.
struct GroupsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "Lists groups, and adds and removes members while the gateway runs.",
    subcommands: [List.self, Add.self, Remove.self])

  /// `cordon groups list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists groups with the number of their members.",
      discussion: "`cordon accounts list --group GROUP` lists the members who have signed in.")

    @OptionGroup var gateway: RunningGatewayOptions

    func run() async throws {
      try await gateway.perform("groups list", acceptsInvalidFile: true) { client in
        try await client.groups()
      } tell: { groups in
        if gateway.json { return try printJSON(groups) }
        guard !groups.isEmpty else {
          return print("There are no groups: add a [[group]] to the configuration, then run cordon reload.")
        }
        var table = TextTable(["GROUP", "BY CONFIGURATION", "ADDED", ""])
        table.print(
          groups.map { [$0.name, "\($0.configured)", "\($0.added)", $0.declared ? "" : "(no [[group]] declares it)"] })
      }
    }
  }

  /// `cordon groups add`.
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Adds a user to a group.",
      discussion: """
        It takes effect within two seconds on every gateway. A user can be added by subject before the first sign-in. \
        An address selects only an account for which Apple has verified it, unless identity.allow_unverified_email is \
        set. An open request for access of the user is deleted.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: "A group that a [[group]] of the configuration declares.")
    var group: String

    @Argument(
      help: ArgumentHelp("Apple's identifier of the user, or the address of the account.", valueName: "sub|email"))
    var user: String

    func run() async throws {
      try await gateway.perform("groups add") { client in
        try await noteUnlikely(user, client)
        return try await client.setMember(try await client.subject(admitting: user), of: group, to: true)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("\(printable(report.subject)) is in \(report.group)\(report.isChanged ? "" : " already").")
      }
    }
  }

  /// `cordon groups remove`.
  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Removes a user who was added to a group.",
      discussion: """
        A member by configuration is removed in the file: members, or members_file. If the group is in a deny list, \
        removing gives access, and requires a valid configuration.
        """)

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: "The group.")
    var group: String

    @Argument(
      help: ArgumentHelp("Apple's identifier of the user, or the address of the account.", valueName: "sub|email"))
    var user: String

    func run() async throws {
      try await gateway.perform("groups remove", acceptsInvalidFile: true) { client in
        try await client.requireRestriction(byLeaving: group)
        return try await client.setMember(try await client.subject(of: user, removedFrom: group), of: group, to: false)
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("\(printable(report.subject)) is no longer in \(report.group).")
      }
    }
  }
}
