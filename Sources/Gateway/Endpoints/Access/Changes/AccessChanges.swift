internal import AccessPolicy
internal import FoundationEssentials
internal import Operations
internal import Sessions
internal import WebFormats

/// Changes of access at run time: bans, members of groups, requests, invitations and machine tokens. Used by the admin
/// listener and the people page.
///
/// Each change is written to the store, takes effect on every loop of this process before the function returns, and is
/// audited, also when it is refused. The caller checks the rights of managers, except those on a ban: an operator's ban
/// between the check and the change would be lost.
struct AccessChanges: Sendable {
  let store: any AccessStore & AccountStore & ReplayGuardStore
  let sessions: SessionManager
  /// The groups of the configuration.
  let policy: UserPolicy
  /// The place of the configuration that names a member of a group, for messages; nil if it is not found.
  let memberPlace: @Sendable (_ member: String, _ group: String) -> String?
  /// The link of an invitation without its code: `https://app.example.com/.auth/invite/`.
  let invitationPrefix: String
  let storeHealth: StoreHealth
  let metrics: MetricsRegistry
  let audit: AuditTrail

  /// The operator or manager of a change, and the request that asked for it.
  struct Actor: Sendable {
    let author: AccessAuthor
    /// The client's address.
    var peer: String?
    var requestID: String?

    /// The name in the audit log, and with what the store keeps.
    var name: String { author.text }
  }

  /// The objects of a change, for the audit, filled in as they become known.
  struct Target {
    var subject: Subject?
    var fields = AuditEvent.AccessFields()
  }

  var now: Date { sessions.date }

  // MARK: Bans

  /// Bans a user, known or not, instead of an earlier ban, and ends all sessions.
  /// - Parameter until: as the operator wrote it, see ``AccessTimes``; nil for no end.
  func ban(
    _ subject: Subject, until: String? = nil, reason: String? = nil, by actor: Actor
  ) async throws(AdminError) -> (ban: Ban, ended: Int) {
    try await change("ban", by: actor) { target in
      target.subject = subject
      try Self.requirePerson(subject, .tokenBan)
      let now = now
      let until = try until.map { try AccessTimes.end($0, now: now) }
      if let until, until <= now { throw AdminError.pastDate }
      let ban = Ban(until: until, reason: try AccessNote.line(reason, field: "reason"), since: now, by: actor.author)
      guard let ended = try await store.ban(subject, ban) else { throw AdminError.protectedBan }
      // By subject, so that the audit of a session names its user, also where that one has moved to another team.
      for (user, handles) in ended { await forget(handles, of: user, actor) }
      return (ban, ended.values.reduce(0) { $0 + $1.count })
    }
  }

  /// Lifts a ban.
  func unban(_ subject: Subject, by actor: Actor) async throws(AdminError) {
    try await change("unban", by: actor) { target in
      target.subject = subject
      switch try await store.unban(subject, by: actor.author, at: now) {
      case .lifted: await sessions.markStale(subject)
      case .notBanned: throw AdminError.notBanned
      case .protected: throw AdminError.protectedBan
      }
    }
  }

  // MARK: Groups

  /// Adds a user, known or not, to a group.
  /// - Returns: the present subject, and false if that one was added before.
  func add(
    _ subject: Subject, to group: String, by actor: Actor
  ) async throws(AdminError) -> (member: Subject, isNew: Bool) {
    try await change("group_add", by: actor) { target in
      target.subject = subject
      target.fields.group = GroupName(group)?.text
      try Self.requirePerson(subject, .tokenMember)
      let name = try declared(group)
      let member = try await present(subject, for: actor)
      target.subject = member
      let isNew = try await store.add(member, to: name, by: actor.name, at: now)
      await sessions.markStale(member)
      return (member, isNew)
    }
  }

  /// Removes a user who was added to a group at run time.
  /// - Returns: the present subject.
  @discardableResult
  func remove(
    _ subject: Subject, from group: String, by actor: Actor
  ) async throws(AdminError) -> Subject {
    try await change("group_remove", by: actor) { target in
      target.subject = subject
      target.fields.group = GroupName(group)?.text
      guard let name = GroupName(group) else { throw AdminError.badGroup }
      let member = try await present(subject, for: actor)
      target.subject = member
      let account = try await store.account(member)
      let user = account.map(policy.principal(of:)) ?? policy.principal(of: member, stored: [])
      if let member = policy.configuredMember(user, in: group) {
        throw AdminError.configuredMember(member, of: group, at: memberPlace(member, group))
      }
      // A group that is no longer declared may still have members.
      var isRemoved = try await store.remove(member, from: name, at: now)
      // An earlier version may have added the earlier subject.
      if member != subject, try await store.remove(subject, from: name, at: now) { isRemoved = true }
      guard isRemoved else {
        _ = try declared(group)
        throw AdminError.notMember(of: group)
      }
      await sessions.markStale(member)
      return member
    }
  }

  /// The present subject of a user whom an operator names by an earlier one, as a ban may: a membership of that one
  /// would neither admit nor deny anybody, and its request has moved. Managers choose among the present subjects.
  private func present(_ subject: Subject, for actor: Actor) async throws(StoreError) -> Subject {
    if actor.author.isManager { return subject }
    return try await store.subjectOfAccount(subject) ?? subject
  }

  // MARK: Requests for access

  /// Admits the user of an open request to a group.
  /// - Parameter request: the code of the request, or the subject of the user.
  func admit(
    _ request: String, to group: String, by actor: Actor
  ) async throws(AdminError) -> AccessRequest {
    try await change("request_admit", by: actor) { target in
      target.fields.group = GroupName(group)?.text
      guard let found = try await openRequest(request, for: actor) else { throw AdminError.noRequestToAdmit }
      target.subject = found.subject
      // Somebody else may have decided on the request since it was read.
      guard try await store.admit(found, to: try declared(group), by: actor.name, at: now) else {
        throw AdminError.noRequest
      }
      await sessions.markStale(found.subject)
      return found
    }
  }

  /// Deletes an open request.
  /// - Parameter request: the code of the request, or the subject of the user.
  func reject(_ request: String, by actor: Actor) async throws(AdminError) -> AccessRequest {
    try await change("request_reject", by: actor) { target in
      guard let found = try await openRequest(request, for: actor) else { throw AdminError.noRequest }
      target.subject = found.subject
      guard try await store.reject(found.code, at: now) else { throw AdminError.noRequest }
      await sessions.markStale(found.subject)
      return found
    }
  }

  /// The open request with this code, or of this subject; nil if there is none.
  private func openRequest(_ text: String, for actor: Actor) async throws -> AccessRequest? {
    let (code, subject) = (AccessRequestCode(text), Subject(text))
    guard code != nil || subject != nil else { throw AdminError.badCode }
    if let code, let found = try await store.request(code, at: now) { return found }
    guard let subject else { return nil }
    return try await store.request(of: try await present(subject, for: actor), at: now)
  }

  // MARK: Invitations

  /// Makes an invitation.
  /// - Parameters:
  ///   - id: the public name of the invitation; nil for a random one. One that was made before is an error, so that a
  ///     repeated request makes no second invitation.
  ///   - code: the code of the link; nil for a random one.
  /// - Returns: the invitation, and its link, which is not stored.
  func invite(
    _ settings: InvitationSettings, id: String? = nil, code: InvitationCode? = nil, by actor: Actor
  ) async throws(AdminError) -> (invitation: Invitation, link: String) {
    try await change("invitation_create", by: actor) { target in
      target.fields.group = GroupName(settings.group)?.text
      let (group, now) = (try declared(settings.group), now)
      guard (1...InvitationSettings.mostUses).contains(settings.uses) else { throw AdminError.badUses }
      let expires = try AccessTimes.expiry(settings.expires, now: now)
      let note = try AccessNote.line(settings.note, field: "note")
      try await requireRoom(forInvitation: id, at: now)
      let code = code ?? InvitationCode.random()
      var tries = 0
      while true {
        let invitation = Invitation(
          id: id ?? InvitationID.random(), group: group, uses: settings.uses, expires: expires, note: note,
          created: now, by: actor.name)
        target.fields.invitation = invitation.id
        do throws(StoreError) {
          try await store.create(invitation, hash: code.hash)
          // Only now: of two clicks the second gets the link that the first has made.
          if let id { try await remember(id) }
          return (invitation, invitationPrefix + code.exposedText)
        } catch {
          tries += 1
          guard error.code == .conflict else { throw error }
          if id != nil { throw AdminError.invitationMade }
          guard tries < 5 else { throw error }
        }
      }
    }
  }

  /// Requires that there never was an invitation with this ID, and that not too many are open.
  private func requireRoom(forInvitation id: String?, at now: Date) async throws {
    let known = try await store.invitations().records()
    if let id {
      if known.contains(where: { $0.id == id }) { throw AdminError.invitationMade }
      // The link of one that is gone, which the form has, would work again.
      if try await store.isConsumed(.invitation(id)) { throw AdminError.invitationMade }
    }
    guard known.count(where: { $0.isOpen(at: now) }) < Self.mostInvitations else {
      throw AdminError.tooManyInvitations
    }
  }

  /// The link of the invitation that a form has made before. Only the sender has the code: the store keeps a hash.
  /// - Returns: nil if the code or the ID is of no invitation, or the settings are not those of the form.
  func link(
    madeWith code: InvitationCode, id: String, _ settings: InvitationSettings
  ) async throws(AdminError) -> String? {
    try await read {
      guard let made = try await store.invitation(hash: code.hash) else { return nil }
      let start = now
      let validity = try AccessTimes.expiry(settings.expires, now: start).timeIntervalSince(start)
      let isSame = abs(made.expires.timeIntervalSince(made.created) - validity) < 1
      guard isSame, made.id == id, made.group == GroupName(settings.group), made.uses == settings.uses,
        made.note == (try AccessNote.line(settings.note, field: "note"))
      else { return nil }
      return invitationPrefix + code.exposedText
    }
  }

  /// Ends an invitation; its form makes none any longer. Users that it admitted stay admitted.
  func revokeInvitation(_ id: String, by actor: Actor) async throws(AdminError) {
    try await change("invitation_revoke", by: actor) { target in
      guard InvitationID.isValid(id) else { throw AdminError.noInvitation }
      target.fields.invitation = id
      // Before it is deleted: a form that is sent meanwhile finds one or the other. It may be of an earlier version.
      try await remember(id)
      guard try await store.revokeInvitation(id) else { throw AdminError.noInvitation }
    }
  }

  /// Remembers an invitation beyond its removal, so that its form makes none again.
  private func remember(_ id: String) async throws(StoreError) {
    _ = try await store.consume(.invitation(id), until: now.advanced(by: Self.formRetention))
  }

  // MARK: Machine tokens

  /// Makes a machine token.
  /// - Parameter expires: as the operator wrote it, see ``AccessTimes``; nil for no end.
  /// - Returns: the token, and its text, of which the store keeps only a hash.
  func createToken(
    name: String, group: String, expires: String? = nil, by actor: Actor
  ) async throws(AdminError) -> (token: MachineToken, text: String) {
    try await change("token_create", by: actor) { target in
      target.fields.group = GroupName(group)?.text
      guard let tokenName = GroupName(name) else { throw AdminError.badTokenName }
      target.fields.token = name
      let (group, now) = (try declared(group), now)
      let expires = try expires.map { try AccessTimes.expiry($0, now: now) }
      let known = try await store.machineTokens()
      guard !known.records().contains(where: { $0.name == tokenName }) else { throw AdminError.tokenNameTaken }
      guard known.count < Self.mostTokens else { throw AdminError.tooManyTokens }
      let (text, handle) = MachineTokenText.random(try await store.storeKey())
      let token = MachineToken(
        name: tokenName, handle: handle, group: group, created: now, expires: expires, by: actor.name)
      do throws(StoreError) {
        try await store.create(token)
      } catch {
        if error.code == .conflict { throw AdminError.tokenNameTaken }
        throw error
      }
      return (token, text)
    }
  }

  /// Revokes a machine token; no loop of this process accepts it any longer.
  func revokeToken(_ name: String, by actor: Actor) async throws(AdminError) {
    try await change("token_revoke", by: actor) { target in
      guard let name = GroupName(name) else { throw AdminError.noMachineToken }
      target.fields.token = name.text
      let revoked = try await store.revokeToken(name, at: now)
      if let revoked { await sessions.endInProcess([revoked]) }
      // Whether there is a token of this name or not: the store may have lost what gateways have in their caches.
      await sessions.markStale(Subject(ofToken: name))
      if revoked == nil { throw AdminError.noMachineToken }
    }
  }

  // MARK: Common parts

  /// Makes a change and audits it.
  private func change<Outcome>(
    _ act: String, by actor: Actor, _ body: (inout Target) async throws -> Outcome
  ) async throws(AdminError) -> Outcome {
    var target = Target()
    func record(failed: String? = nil) {
      audit.record(
        .administration(act: act, by: actor.name, failed: failed), subject: target.subject, peer: actor.peer,
        requestID: actor.requestID, access: target.fields)
    }
    do {
      let outcome = try await body(&target)
      record()
      return outcome
    } catch {
      let error = failure(error)
      record(failed: error.code)
      throw error
    }
  }

  /// Runs a read operation.
  func read<Outcome>(_ body: () async throws -> Outcome) async throws(AdminError) -> Outcome {
    do { return try await body() } catch { throw failure(error) }
  }

  private func failure(_ error: any Error) -> AdminError {
    if let error = error as? AdminError { return error }
    if let error = error as? StoreError { storeHealth.failed("administration", error) }
    return .store("\(error)")
  }

  /// Removes ended sessions and the user's changed account from every loop.
  private func forget(_ ended: [PublicSessionID], of subject: Subject, _ actor: Actor) async {
    await sessions.endInProcess(ended)
    await sessions.markStale(subject)
    metrics.countEnd(of: ended, because: .byOperator)
    audit.recordEnd(of: ended, because: .byOperator, subject: subject, requestID: actor.requestID)
  }

  /// The name of a group that the configuration declares.
  func declared(_ group: String) throws(AdminError) -> GroupName {
    guard let name = GroupName(group) else { throw .badGroup }
    guard policy.groups.number(of: group) != nil else { throw .unknownGroup(group, among: policy.groups.names) }
    return name
  }

  private static func requirePerson(
    _ subject: Subject, _ error: AdminError
  ) throws(AdminError) {
    if subject.text.utf8.starts(with: "token:".utf8) { throw error }
    // An address instead of a subject would never match anybody.
    if subject.text.utf8.contains(UInt8(ascii: "@")) { throw .addressForSubject }
  }

  /// The largest number of open invitations.
  private static let mostInvitations = 1_000
  /// The time for which the form of an invitation is remembered: browsers send one again from their history.
  private static let formRetention = Duration.seconds(365 * 86_400)
  /// The largest number of machine tokens, with expired ones.
  private static let mostTokens = 1_000
}
