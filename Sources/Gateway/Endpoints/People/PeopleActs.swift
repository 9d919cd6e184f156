internal import AccessPolicy
internal import FoundationEssentials
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// Performs the acts of managers. An act on a group of managers or of a deny list, on another manager, or on the ban of
/// an operator, is refused and audited.
struct PeopleActs: Sendable {
  let accessChanges: AccessChanges
  let store: any AccessStore & AccountStore & SessionRecordStore
  let sessions: SessionManager
  let authority: ManagerAuthority
  let audit: AuditTrail

  /// An act from a submitted form.
  enum Act: Sendable {
    case admit(AccessRequestCode, group: String)
    case reject(AccessRequestCode)
    case add(Subject, group: String)
    case remove(Subject, group: String)
    /// - Parameter until: as typed; empty for no end.
    case ban(Subject, until: String, reason: String)
    case unban(Subject)
    case endSession(PublicSessionID, of: Subject)
    case endSessions(of: Subject)
    case invite(InvitationForm)
    case revoke(id: String)
  }

  /// The form of a new invitation. The numbers are as they were typed.
  struct InvitationForm: Sendable {
    var group: String
    /// The ID that the form has for the invitation.
    var id: String
    /// The code that the form has for its link; nil in the page of an earlier version.
    var code: InvitationCode?
    var uses = "1"
    var days = "7"
    var note = ""

    /// The settings of the invitation. A malformed number of users is below the least, and so refused and audited as
    /// any other that is not permitted.
    fileprivate var settings: InvitationSettings {
      let uses = DecimalDigits.parse(Array(uses.utf8), limit: InvitationSettings.mostUses) ?? 0
      return InvitationSettings(group: group, uses: uses, expires: "\(days)d", note: note)
    }
  }

  /// The result of an act.
  enum Outcome: Sendable {
    case done(PeopleResult)
    /// - Parameter link: the whole address.
    case invited(link: String)
    /// Managers are not permitted to do it.
    case protected
  }

  private typealias Actor = AccessChanges.Actor

  /// Performs an act.
  func carryOut(
    _ act: Act, for manager: Subject, by actor: AccessChanges.Actor
  ) async throws -> Outcome {
    let (subject, isKnown) = try await target(of: act)
    guard isKnown else { return .done(.unchanged) }
    let group = try await group(of: act)
    if try await isProtected(subject, group, from: manager) {
      audit.record(
        .administration(act: act.name, by: actor.name, failed: "protected"), subject: subject, peer: actor.peer,
        requestID: actor.requestID, access: AuditEvent.AccessFields(group: group.flatMap { GroupName($0)?.text }))
      return .protected
    }
    do throws(AdminError) {
      return try await perform(act, by: actor)
    } catch {
      if error.code == AdminError.protectedBan.code { return .protected }
      guard error.status < 500 else { throw error }
      return .done(PeopleResult(refused: error))
    }
  }

  // MARK: Protected users and groups

  /// The user that an act concerns; not known if there is no such request.
  private func target(of act: Act) async throws -> (Subject?, isKnown: Bool) {
    switch act {
    case .admit(let code, _), .reject(let code):
      let request = try await store.request(code, at: accessChanges.now)
      return (request?.subject, request != nil)
    case .add(let subject, _), .remove(let subject, _), .ban(let subject, _, _), .unban(let subject),
      .endSession(_, let subject), .endSessions(let subject):
      return (subject, true)
    case .invite, .revoke: return (nil, true)
    }
  }

  /// The group that an act names.
  private func group(of act: Act) async throws -> String? {
    switch act {
    case .admit(_, let group), .add(_, let group), .remove(_, let group): return group
    case .invite(let form): return form.group
    case .revoke(let id):
      let known = try await store.invitations()
      // The group of a damaged one is unknown, and may be protected.
      if let damage = known.damagedRecords().first(where: { $0.name == id }) { throw damage.error }
      return known.records().first { $0.id == id }?.group.text
    case .reject, .ban, .unban, .endSession, .endSessions: return nil
    }
  }

  private func isProtected(_ subject: Subject?, _ group: String?, from manager: Subject) async throws -> Bool {
    if let group, authority.isProtected(group: group) { return true }
    guard let subject else { return false }
    return authority.isProtected(try await principal(subject), from: manager)
  }

  /// A user with the groups, also one without an account.
  private func principal(_ subject: Subject) async throws -> Principal {
    if let account = try await store.account(subject) { return authority.evaluator.principal(account) }
    return authority.evaluator.policy.principal(of: subject, stored: try await store.groups(of: subject))
  }

  // MARK: Acts

  private func perform(_ act: Act, by actor: Actor) async throws(AdminError) -> Outcome {
    switch act {
    case .admit(let code, let group):
      _ = try await accessChanges.admit(code.text, to: group, by: actor)
      return .done(.admitted)
    case .reject(let code):
      _ = try await accessChanges.reject(code.text, by: actor)
      return .done(.rejected)
    case .add(let subject, let group):
      let isNew = try await accessChanges.add(subject, to: group, by: actor).isNew
      return .done(isNew ? .added : .unchanged)
    case .remove(let subject, let group):
      try await accessChanges.remove(subject, from: group, by: actor)
      return .done(.removed)
    case .ban(let subject, let until, let reason):
      _ = try await accessChanges.ban(subject, until: until.isEmpty ? nil : until, reason: reason, by: actor)
      return .done(.banned)
    case .unban(let subject):
      try await accessChanges.unban(subject, by: actor)
      return .done(.unbanned)
    case .endSession(let handle, let subject):
      return try await end(act.name, of: subject, session: handle, by: actor) {
        // Only sessions of this user: the ID of another user's session must not end it.
        let isTheirs = try await store.sessions(of: subject).contains { $0.handle == handle }
        return isTheirs ? try await sessions.end(.one(handle), because: .byOperator) : []
      }
    case .endSessions(let subject):
      return try await end(act.name, of: subject, by: actor) {
        try await sessions.end(.all(of: subject), because: .byOperator)
      }
    case .invite(let form): return .invited(link: try await invite(form, by: actor))
    case .revoke(let id):
      try await accessChanges.revokeInvitation(id, by: actor)
      return .done(.revoked)
    }
  }

  /// Makes an invitation, unless the same form has made it before.
  /// - Returns: its link.
  private func invite(_ form: InvitationForm, by actor: Actor) async throws(AdminError) -> String {
    let settings = form.settings
    do throws(AdminError) {
      return try await accessChanges.invite(settings, id: form.id, code: form.code, by: actor).link
    } catch {
      // Of two clicks browsers show the second response only, perhaps from another gateway: it has the same link.
      guard error.code == AdminError.invitationMade.code, let code = form.code,
        let link = try await accessChanges.link(madeWith: code, id: form.id, settings)
      else { throw error }
      return link
    }
  }

  /// Ends sessions of a user, and audits that it was done or failed.
  private func end(
    _ act: String, of subject: Subject, session: PublicSessionID? = nil, by actor: Actor,
    _ body: () async throws -> [PublicSessionID]
  ) async throws(AdminError) -> Outcome {
    let ended: [PublicSessionID]
    do throws(AdminError) {
      ended = try await accessChanges.read(body)
    } catch {
      record(act, of: subject, session: session, by: actor, failed: error.code)
      throw error
    }
    record(act, of: subject, session: session, by: actor, failed: ended.isEmpty ? "no_session" : nil)
    audit.recordEnd(of: ended, because: .byOperator, subject: subject, requestID: actor.requestID)
    return .done(ended.isEmpty ? .unchanged : .ended)
  }

  private func record(
    _ act: String, of subject: Subject, session: PublicSessionID?, by actor: Actor, failed: String?
  ) {
    audit.record(
      .administration(act: act, by: actor.name, failed: failed), subject: subject, session: session, peer: actor.peer,
      requestID: actor.requestID)
  }
}

extension PeopleResult {
  /// The result of an act that was refused.
  fileprivate init(refused error: AdminError) {
    switch error.code {
    case AdminError.configuredMemberCode: self = .configured
    case AdminError.unknownGroupCode: self = .unknownGroup
    case AdminError.tooManyInvitations.code: self = .tooManyInvitations
    default: self = error.status == 400 ? .invalid : .unchanged
    }
  }
}

extension PeopleActs.Act {
  /// The act of a form; nil if a field is missing or malformed.
  init?(_ form: FormFields) {
    func text(_ name: String) -> String? {
      (try? form.value(of: name)).flatMap { String(validating: $0, as: UTF8.self) }
    }
    let subject = text("person").flatMap { Subject($0) }
    let code = text("code").flatMap { AccessRequestCode($0) }
    switch (text("act").flatMap { PeopleAct(rawValue: $0) }, subject, code) {
    case (.admit, _, let code?):
      guard let group = text("group") else { return nil }
      self = .admit(code, group: group)
    case (.reject, _, let code?): self = .reject(code)
    case (.add, let subject?, _):
      guard let group = text("group") else { return nil }
      self = .add(subject, group: group)
    case (.remove, let subject?, _):
      guard let group = text("group") else { return nil }
      self = .remove(subject, group: group)
    case (.ban, let subject?, _): self = .ban(subject, until: text("until") ?? "", reason: text("reason") ?? "")
    case (.unban, let subject?, _): self = .unban(subject)
    case (.endSession, let subject?, _):
      guard let handle = text("session").flatMap({ PublicSessionID(text: $0) }) else { return nil }
      self = .endSession(handle, of: subject)
    case (.endSessions, let subject?, _): self = .endSessions(of: subject)
    case (.invite, _, _):
      guard let group = text("group"), let id = text("id"), InvitationID.isValid(id) else { return nil }
      var invitation = PeopleActs.InvitationForm(group: group, id: id)
      invitation.code = text("link").flatMap { InvitationCode($0) }
      if let uses = text("uses") { invitation.uses = uses }
      if let days = text("days") { invitation.days = days }
      if let note = text("note") { invitation.note = note }
      self = .invite(invitation)
    case (.revoke, _, _):
      guard let id = text("id") else { return nil }
      self = .revoke(id: id)
    default: return nil
    }
  }

  /// The name in the audit, as of the same act on the admin listener.
  var name: String {
    switch self {
    case .admit: "request_admit"
    case .reject: "request_reject"
    case .add: "group_add"
    case .remove: "group_remove"
    case .ban: "ban"
    case .unban: "unban"
    case .endSession: "end_session"
    case .endSessions: "end_sessions"
    case .invite: "invitation_create"
    case .revoke: "invitation_revoke"
    }
  }
}
