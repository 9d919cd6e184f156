/// An event for the audit log: sign-ins, refusals with reasons, ends of sessions, and acts of operators.
///
/// It identifies users by keyed hashes and sessions by their public IDs, never by the contents of a cookie or a token.
package struct AuditEvent: Sendable, Equatable {
  /// When it happened.
  package var time: Timestamp
  /// The event.
  package var action: Action
  /// The keyed hash of the user (`sub`), if known.
  package var user: String?
  /// The public ID of the session, if any: sent upstream as `session_id` and accepted by `cordon sessions end`. No
  /// cookie can be made from it.
  package var session: String?
  /// The client's address.
  package var peer: String?
  /// The identifier of the request that caused it.
  package var requestID: String?
  /// The `client_id` at Apple: web or a native app.
  package var clientID: String?
  /// The parts of access that it concerns.
  package var access: AccessFields

  /// An event. Nil leaves a field out of the line.
  package init(
    time: Timestamp, action: Action, user: String? = nil, session: String? = nil, peer: String? = nil,
    requestID: String? = nil, clientID: String? = nil, access: AccessFields = AccessFields()
  ) {
    self.time = time
    self.action = action
    self.user = user
    self.session = session
    self.peer = peer
    self.requestID = requestID
    self.clientID = clientID
    self.access = access
  }

  /// The group, the invitation and the machine token that an event concerns. Never codes or the texts of tokens.
  package struct AccessFields: Sendable, Equatable {
    /// The name of the group.
    package var group: String?
    /// The ID of the invitation.
    package var invitation: String?
    /// The name of the token.
    package var token: String?

    /// The fields of an event; those that it does not concern stay nil.
    package init(group: String? = nil, invitation: String? = nil, token: String? = nil) {
      self.group = group
      self.invitation = invitation
      self.token = token
    }
  }

  /// The event. Reasons, verdicts and effects are short constants (`nonce_mismatch`), not messages.
  package enum Action: Sendable, Equatable {
    /// A session began; `isNewAccount` if the user was not known before.
    case signIn(isNewAccount: Bool)
    /// A sign-in has a verified e-mail address that another user has too: `other`, a keyed hash.
    case emailShared(other: String)
    /// A sign-in failed. `omitted` earlier failures for this reason were not logged, so that the log is not flooded.
    case signInFailed(reason: String, omitted: Int = 0)
    /// The user ended the session.
    case signOut
    /// The user asked on the account page to stop using the application: `deleted`, or `not_revoked` if Apple did not
    /// confirm and everything was kept.
    case stopUsing(outcome: String)
    /// A session ended otherwise: signed out from another browser, replaced by a new sign-in, revoked at Apple, ended
    /// by an operator or with its account, or refused after the grace period.
    case sessionEnded(reason: String)
    /// A refresh token was checked with Apple.
    case check(verdict: String)
    /// The revocation of a refresh token at Apple, successful or not.
    case revocation(outcome: String)
    /// A notification from Apple about a user, and its effect.
    case notification(type: String, effect: String)
    /// A user asked for access.
    case accessRequested
    /// A user joined a group by an invitation.
    case invitationRedeemed
    /// An act of an operator or manager on an account, a session, access or the configuration; with the reason in
    /// `failed` if it could not be done.
    case administration(act: String, by: String, failed: String? = nil)
    /// A refused act of an unauthorized caller. `omitted` earlier refusals were not logged, so that the log is not
    /// flooded.
    case administrationRefused(omitted: Int)

    /// The name of the event in the log.
    package var name: Name {
      switch self {
      case .signIn: .signIn
      case .emailShared: .emailShared
      case .signInFailed: .signInFailed
      case .signOut: .signOut
      case .stopUsing: .stopUsing
      case .sessionEnded: .sessionEnded
      case .check: .check
      case .revocation: .revocation
      case .notification: .notification
      case .accessRequested: .accessRequested
      case .invitationRedeemed: .invitationRedeemed
      case .administration, .administrationRefused: .administration
      }
    }
  }

  /// The name of an event in the log and in the configuration (`log.audit_events`).
  package enum Name: String, Sendable, CaseIterable {
    /// A session began.
    case signIn = "sign_in"
    /// Two users have the same verified e-mail address.
    case emailShared = "email_shared"
    /// A sign-in failed.
    case signInFailed = "sign_in_failed"
    /// A user ended the session.
    case signOut = "sign_out"
    /// A user asked to stop using the application.
    case stopUsing = "stop_using"
    /// A session ended without being signed out by its own browser.
    case sessionEnded = "session_ended"
    /// A refresh token was checked with Apple.
    case check
    /// A refresh token was to be revoked at Apple.
    case revocation
    /// Apple notified of a change to a user.
    case notification
    /// A user asked for access.
    case accessRequested = "access_requested"
    /// A user joined a group by an invitation.
    case invitationRedeemed = "invitation_redeemed"
    /// An operator or manager acted, or an unauthorized caller was refused.
    case administration
  }

  /// Appends the event as a line with its line feed.
  package func append(to buffer: inout LogBuffer, as format: LineFormat) {
    var line = LogFormatter(consume buffer, format: format)
    line.time(time)
    line.kind("audit")
    line.word("event", action.name.rawValue)
    switch action {
    case .signIn(let isNewAccount): line.boolean("new_account", isNewAccount)
    case .emailShared(let other): line.string("other", other)
    case .signInFailed(let reason, let omitted):
      line.string("reason", reason)
      if omitted > 0 { line.integer("omitted", UInt64(clamping: omitted)) }
    case .sessionEnded(let reason): line.string("reason", reason)
    case .signOut, .accessRequested, .invitationRedeemed: break
    case .check(let verdict): line.string("verdict", verdict)
    case .revocation(let outcome), .stopUsing(let outcome): line.string("outcome", outcome)
    case .notification(let type, let effect):
      line.string("type", type)
      line.string("effect", effect)
    case .administration(let act, let operatorName, let failed):
      line.string("act", act)
      line.string("by", operatorName)
      if let failed { line.string("failed", failed) }
    case .administrationRefused(let omitted):
      line.string("act", "refused")
      line.string("by", "nobody")
      if omitted > 0 { line.integer("omitted", UInt64(clamping: omitted)) }
    }
    if let group = access.group { line.string("group", group) }
    if let invitation = access.invitation { line.string("invitation", invitation) }
    if let token = access.token { line.string("token", token) }
    if let user { line.string("user", user) }
    if let session { line.string("session", session) }
    if let clientID { line.string("client", clientID) }
    if let peer { line.string("peer", peer) }
    if let requestID { line.string("request", requestID) }
    buffer = line.end()
  }
}
