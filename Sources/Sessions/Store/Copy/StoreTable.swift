/// The tables of a store that are copied, in an order in which each refers to earlier ones only. The change feed is not
/// copied: it is for running gateways.
///
/// The raw values are shown while a copy runs, and hashed in ``CopiedContent``: they do not change.
package enum StoreTable: String, Sendable, CaseIterable {
  /// Users who have signed in.
  case accounts
  /// Pending display names of sign-ins that were not completed.
  case submittedNames = "submitted names"
  /// Encrypted, one for each account and client.
  case refreshTokens = "refresh tokens"
  /// Browsers and apps.
  case sessions
  /// Replay guards that were consumed. Their table is named `single_use_marks`.
  case replayGuards = "used-up marks"
  /// Messages for the application.
  case messages
  /// Bans of users.
  case bans
  /// Users in groups.
  case groupMembers = "group members"
  /// Requests for access.
  case accessRequests = "requests for access"
  /// Invitations to groups.
  case invitations
  /// Users that invitations have admitted.
  case invitationUses = "used invitations"
  /// Tokens of machines.
  case machineTokens = "machine tokens"
  /// Transfer identifiers of users.
  case preparedTransfers = "prepared transfers"

  /// The columns in which rows are carried, by their names in SQLite; the first are the key.
  package var columns: [String] {
    switch self {
    case .accounts:
      [
        "subject", "name", "email", "claims", "latest_authorization", "last_verified", "last_asked", "last_answer",
        "claim_number", "check_failing_since", "apple_authorized", "token_discarded",
      ]
    case .submittedNames: ["subject", "name", "submitted"]
    case .refreshTokens: ["subject", "client_id", "sealed", "key", "version"]
    case .sessions: ["handle", "subject", "client_id", "began", "ends", "last_seen", "user_agent"]
    case .replayGuards: ["mark", "until"]
    case .messages: ["identifier", "text", "queued", "due", "attempts"]
    case .bans: ["hash", "subject", "until", "reason", "since", "made_by"]
    case .groupMembers: ["group_name", "subject", "added", "added_by"]
    case .accessRequests: ["code", "subject", "asked"]
    case .invitations:
      ["id", "hash", "group_name", "uses", "used", "expires", "closes", "note", "created", "created_by"]
    case .invitationUses: ["invitation", "subject", "used"]
    case .machineTokens: ["name", "handle", "group_name", "created", "expires", "created_by"]
    case .preparedTransfers: ["transfer", "hash", "subject", "team", "prepared", "moved"]
    }
  }

  /// The number of columns of the key.
  package var keyCount: Int {
    switch self {
    case .refreshTokens, .groupMembers, .invitationUses: 2
    case .accounts, .submittedNames, .sessions, .replayGuards, .messages, .bans, .accessRequests, .invitations,
      .machineTokens, .preparedTransfers:
      1
    }
  }
}
