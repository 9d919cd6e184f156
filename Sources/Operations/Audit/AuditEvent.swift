/// Something that an auditor asks for later: who came in, who was refused and why, who went, and what operators did.
///
/// It names users by keyed hashes and sessions by their public handles, never by what a cookie or a token holds.
package struct AuditEvent: Sendable, Equatable {
  /// When it happened.
  package var time: Timestamp
  /// The event.
  package var action: Action
  /// A keyed hash that stands for the user (`sub`), where one is known.
  package var user: String?
  /// The public handle of the session, where one is concerned: what the upstream gets as `session_id` and what
  /// `cordon sessions end` takes. No cookie can be made from it.
  package var session: String?
  /// The client's address.
  package var peer: String?
  /// The identifier of the request that brought it about.
  package var requestID: String?
  /// Apple's `client_id` that it rests on: web or a native app.
  package var clientID: String?
  /// The parts of access that it concerns.
  package var access: AccessFields

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

  /// The group, the invitation and the machine token that an event concerns. Codes and the texts of tokens never.
  package struct AccessFields: Sendable, Equatable {
    /// The name of the group.
    package var group: String?
    /// The ID of the invitation.
    package var invitation: String?
    /// The name of the token.
    package var token: String?

    package init(group: String? = nil, invitation: String? = nil, token: String? = nil) {
      self.group = group
      self.invitation = invitation
      self.token = token
    }
  }

  /// The event. Reasons, verdicts and effects are short constants (`nonce_mismatch`), not messages.
  package enum Action: Sendable, Equatable {
    /// A session began; `isNewAccount` where Apple's user was not known before.
    case signIn(isNewAccount: Bool)
    /// A sign-in brought a verified e-mail address that `other`, a keyed hash of another user, holds too.
    case emailShared(other: String)
    /// A sign-in came to nothing.
    case signInFailed(reason: String)
    /// The user ended the session.
    case signOut
    /// The user asked on the account page to stop using the application: `deleted`, or `not_revoked` if Apple did not
    /// confirm and everything was kept.
    case stopUsing(outcome: String)
    /// A session ended otherwise: replaced by a new sign-in, by an answer of Apple's, by an operator.
    case sessionEnded(reason: String)
    /// A refresh token was checked with Apple.
    case check(verdict: String)
    /// A refresh token was revoked at Apple, or not.
    case revocation(outcome: String)
    /// Apple told something about a user, and what followed from it.
    case notification(type: String, effect: String)
    /// A user asked for access.
    case accessRequested
    /// A user joined a group by an invitation.
    case invitationRedeemed
    /// An operator or manager did something to an account or a session, to who may come in, or to the configuration;
    /// with the reason in `failed` where it could not be done.
    case administration(act: String, by: String, failed: String? = nil)
    /// Somebody without a right wanted to. `omitted` others were refused before and not told, lest the log be flooded.
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
    case signIn = "sign_in"
    case emailShared = "email_shared"
    case signInFailed = "sign_in_failed"
    case signOut = "sign_out"
    case stopUsing = "stop_using"
    case sessionEnded = "session_ended"
    case check
    case revocation
    case notification
    case accessRequested = "access_requested"
    case invitationRedeemed = "invitation_redeemed"
    case administration
  }

  /// Appends the event as a line with its line feed.
  package func append(to buffer: inout LogBuffer, as format: LineFormat) {
    var line = LogFormatter(consume buffer, format: format)
    line.time(time)
    line.word("kind", "audit")
    line.word("event", action.name.rawValue)
    switch action {
    case .signIn(let isNewAccount): line.boolean("new_account", isNewAccount)
    case .emailShared(let other): line.string("other", other)
    case .signInFailed(let reason), .sessionEnded(let reason): line.string("reason", reason)
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

/// The destination of audit events: the log's output in the same format, or none.
package struct AuditLog: Sendable {
  private let output: LogSink
  private let format: LineFormat
  private let events: Set<AuditEvent.Name>

  package init(_ settings: LogSettings, output: LogSink = .standard) {
    self.output = output
    format = settings.format(for: output)
    events = settings.auditLog ? Set(settings.auditEvents ?? AuditEvent.Name.allCases) : []
  }

  /// Writes one event, unless the audit, or this event, is switched off. Returns at once.
  package func record(_ event: AuditEvent) {
    guard events.contains(event.action.name) else { return }
    var line = LogBuffer()
    event.append(to: &line, as: format)
    output.write(line)
  }
}
