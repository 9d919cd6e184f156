/// The number of rows of each kind.
package struct StoreCounts: Sendable, Equatable {
  /// Users that are known.
  package var accounts: Int
  /// Sessions that have not ended, including expired ones that are not removed yet.
  package var sessions: Int
  /// Encrypted tokens, one for each user and client.
  package var refreshTokens: Int
  /// Messages for the application (`OutgoingMessage`).
  package var messages: Int
  /// Bans, also those that have expired.
  package var bans: Int
  /// Users in groups, one for each user and group; those of the configuration are not among them.
  package var groupMembers: Int
  /// Requests for access, also those that have expired.
  package var accessRequests: Int
  /// Invitations, also those that no longer admit anybody.
  package var invitations: Int
  /// Tokens of machines, also those that have expired.
  package var machineTokens: Int

  /// The number of each.
  package init(
    accounts: Int, sessions: Int, refreshTokens: Int, messages: Int = 0, bans: Int = 0, groupMembers: Int = 0,
    accessRequests: Int = 0, invitations: Int = 0, machineTokens: Int = 0
  ) {
    self.accounts = accounts
    self.sessions = sessions
    self.refreshTokens = refreshTokens
    self.messages = messages
    self.bans = bans
    self.groupMembers = groupMembers
    self.accessRequests = accessRequests
    self.invitations = invitations
    self.machineTokens = machineTokens
  }
}
