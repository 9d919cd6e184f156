import FoundationEssentials
import Sessions

/// Access that is decided at run time, in memory: as the contract of stores says, without its limits and clean-up.
extension MemoryStore {
  func storeKey() async throws(StoreError) -> StoreKey { try access { _ in key } }

  func ban(_ subject: Subject, _ ban: Ban) async throws(StoreError) -> [Subject: [PublicSessionID]]? {
    try access { state -> [Subject: [PublicSessionID]]? in
      if ban.by.isManager, state.bans[subject]?.isProtected(at: ban.since) == true { return nil }
      var ended: [Subject: [PublicSessionID]] = [:]
      for subject in [subject, ban.by.isManager ? nil : state.latestSubject(of: subject)].compactMap(\.self) {
        state.bans[subject] = ban
        state.requests[subject] = nil
        let own = state.sessions.values.filter { $0.subject == subject }.map(\.handle)
        for handle in own { state.sessions[handle] = nil }
        state.changes.append(.accountChanged(subject))
        state.changes += own.map { .ended($0, .byOperator) }
        ended[subject] = own
      }
      return ended
    }
  }

  func unban(_ subject: Subject, by author: AccessAuthor, at now: Date) async throws(StoreError) -> UnbanOutcome {
    try access { state -> UnbanOutcome in
      let banned = state.subjects(of: subject).filter { state.bans[$0] != nil }
      if banned.isEmpty { return .notBanned }
      if author.isManager, banned.contains(where: { state.bans[$0]?.isProtected(at: now) == true }) {
        return .protected
      }
      for other in banned { state.bans[other] = nil }
      state.changes.append(.accountChanged(subject))
      state.changes += banned.filter { $0 != subject }.map { .accountChanged($0) }
      return .lifted
    }
  }

  func ban(of subject: Subject) async throws(StoreError) -> Ban? { try access { $0.bans[subject] } }

  func latestSubject(of subject: Subject) async throws(StoreError) -> Subject? {
    try access { $0.latestSubject(of: subject) }
  }

  func banCount(at now: Date) async throws(StoreError) -> Int {
    try access { $0.bans.values.count { $0.isInForce(at: now) } }
  }

  func add(
    _ subject: Subject, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    try access { $0.add(subject, to: group) }
  }

  func remove(_ subject: Subject, from group: GroupName, at now: Date) async throws(StoreError) -> Bool {
    try access { state in
      guard state.members[group]?.remove(subject) != nil else { return false }
      state.changes.append(.accountChanged(subject))
      return true
    }
  }

  func groups(of subject: Subject) async throws(StoreError) -> [GroupName] { try access { $0.groups(of: subject) } }

  func members(
    of group: GroupName, after subject: Subject?, limit: Int
  ) async throws(StoreError) -> [Listed<Subject>] {
    try access { state in
      let sorted = (state.members[group] ?? []).sorted { $0.text < $1.text }
      let page = sorted.drop { member in subject.map { member.text <= $0.text } ?? false }.prefix(limit)
      return page.map { Listed.readable($0) }
    }
  }

  func memberCounts() async throws(StoreError) -> [GroupName: Int] {
    try access { $0.members.mapValues(\.count).filter { $0.value > 0 } }
  }

  func ask(
    _ subject: Subject, code: AccessRequestCode, at now: Date
  ) async throws(StoreError) -> AccessRequestOutcome {
    let outcome: AccessRequestOutcome? = try access { state in
      guard let account = state.account(subject) else { return nil }
      if account.access.ban?.isInForce(at: now) == true { return .banned }
      if let known = state.requests[subject] { return .waits(known) }
      guard state.requests.count < AccessRequest.mostOpen else { return .tooMany }
      let request = AccessRequest(code: code, subject: subject, asked: now)
      state.requests[subject] = request
      return .waits(request)
    }
    guard let outcome else { throw .unknownUser }
    return outcome
  }

  func request(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> AccessRequest? {
    let (found, meanwhile) = try access { state -> (AccessRequest?, (@Sendable () async -> Void)?) in
      defer { state.beforeRequest = nil }
      return (state.requests.values.first { $0.code == code }, state.beforeRequest)
    }
    await meanwhile?()
    return found
  }

  func request(of subject: Subject, at now: Date) async throws(StoreError) -> AccessRequest? {
    try access { $0.requests[subject] }
  }

  func requests(
    after code: AccessRequestCode?, limit: Int, at now: Date
  ) async throws(StoreError) -> [Listed<(request: AccessRequest, account: Account)>] {
    try access { state in
      let sorted = state.requests.values.sorted { ($0.asked, $0.code.text) < ($1.asked, $1.code.text) }
      let start = sorted.firstIndex { $0.code == code }.map { $0 + 1 } ?? 0
      return sorted[start...].prefix(limit).compactMap {
        request -> Listed<(request: AccessRequest, account: Account)>? in
        if state.damaged.contains(request.subject) {
          return .damaged(DamagedRecord(name: request.code.text, what: "account"))
        }
        return state.account(request.subject).map { .readable((request: request, account: $0)) }
      }
    }
  }

  func requestCount(at now: Date) async throws(StoreError) -> Int { try access { $0.requests.count } }

  func admit(
    _ request: AccessRequest, to group: GroupName, by: String, at now: Date
  ) async throws(StoreError) -> Bool {
    try access { state in
      guard state.requests[request.subject] == request else { return false }
      _ = state.add(request.subject, to: group)
      return true
    }
  }

  func reject(_ code: AccessRequestCode, at now: Date) async throws(StoreError) -> Bool {
    try access { state in
      guard let request = state.requests.values.first(where: { $0.code == code }) else { return false }
      state.requests[request.subject] = nil
      return true
    }
  }

  func create(_ invitation: Invitation, hash: [UInt8]) async throws(StoreError) {
    let isNew = try access { state in
      guard state.invitations[hash] == nil, !state.invitations.values.contains(where: { $0.id == invitation.id })
      else { return false }
      state.invitations[hash] = invitation
      return true
    }
    guard isNew else { throw .taken("an invitation of this ID") }
  }

  func invitation(hash: [UInt8]) async throws(StoreError) -> Invitation? { try access { $0.invitations[hash] } }

  func redeem(
    hash: [UInt8], by subject: Subject, isMember: Bool, at now: Date
  ) async throws(StoreError) -> RedemptionOutcome {
    let outcome: RedemptionOutcome? = try access { state in
      guard let account = state.account(subject) else { return nil }
      guard let invitation = state.invitations[hash] else { return .closed }
      let outcome = invitation.outcome(
        for: account.access.ban, isMember: isMember || account.access.groups.contains(invitation.group),
        hasUsed: state.invitationUses[invitation.id]?.contains(subject) == true, at: now)
      guard case .joined(let group) = outcome else { return outcome }
      state.invitationUses[invitation.id, default: []].insert(subject)
      state.invitations[hash] = Invitation(
        id: invitation.id, group: group, uses: invitation.uses, used: invitation.used + 1, expires: invitation.expires,
        note: invitation.note, created: invitation.created, by: invitation.by)
      _ = state.add(subject, to: group)
      return outcome
    }
    guard let outcome else { throw .unknownUser }
    return outcome
  }

  func invitations() async throws(StoreError) -> [Listed<Invitation>] {
    try access { state in
      state.invitations.values.sorted { ($1.created, $0.id) < ($0.created, $1.id) }.map {
        invitation -> Listed<Invitation> in
        state.damagedInvitations.contains(invitation.id)
          ? .damaged(DamagedRecord(name: invitation.id, what: "invitation")) : .readable(invitation)
      }
    }
  }

  func revokeInvitation(_ id: String) async throws(StoreError) -> Bool {
    try access { state in
      guard let hash = state.invitations.first(where: { $0.value.id == id })?.key else { return false }
      state.invitations[hash] = nil
      return true
    }
  }

  func create(_ token: MachineToken) async throws(StoreError) {
    let isNew = try access { state in
      guard state.machineTokens[token.name] == nil else { return false }
      state.machineTokens[token.name] = token
      state.changes.append(.accountChanged(token.subject))
      return true
    }
    guard isNew else { throw .taken("a token named \(token.name)") }
  }

  func token(_ handle: PublicSessionID) async throws(StoreError) -> MachineToken? {
    try requireSuccess(of: "token")
    return try access { state in
      state.lookUps += 1
      return state.machineTokens.values.first { $0.handle == handle }
    }
  }

  func machineTokens() async throws(StoreError) -> [Listed<MachineToken>] {
    try access { state in state.machineTokens.values.sorted { $0.name < $1.name }.map { Listed.readable($0) } }
  }

  func revokeToken(_ name: GroupName, at now: Date) async throws(StoreError) -> PublicSessionID? {
    try access { state in
      state.changes.append(.accountChanged(Subject(ofToken: name)))
      guard let token = state.machineTokens.removeValue(forKey: name) else { return nil }
      state.changes.append(.ended(token.handle, .byOperator))
      return token.handle
    }
  }

  func summaries(after subject: Subject?, limit: Int) async throws(StoreError) -> [Listed<AccountSummary>] {
    try access { state in
      state.page(after: subject, limit: limit).map { listed -> Listed<AccountSummary> in
        guard case .readable(let account) = listed else {
          return .damaged(DamagedRecord(name: listed.subject?.text, what: "account"))
        }
        let sessions = state.sessions.values.filter { $0.subject == account.subject }
        return .readable(
          AccountSummary(
            account: account, sessions: sessions.count,
            lastSeen: max(sessions.map(\.lastSeen).max() ?? .distantPast, account.latestAuthorization)))
      }
    }
  }
}

extension MemoryStore.State {
  func groups(of subject: Subject) -> [GroupName] {
    members.filter { $0.value.contains(subject) }.map(\.key).sorted()
  }

  /// The account with its groups and ban, beside those that a test gave the account itself.
  func account(_ subject: Subject) -> Account? {
    guard var account = accounts[subject] else { return nil }
    account.access.groups = Set(account.access.groups + groups(of: subject)).sorted()
    account.access.ban = bans[subject] ?? account.access.ban
    return account
  }

  /// Whether a ban or a membership names the user.
  func isNamed(_ subject: Subject) -> Bool { bans[subject] != nil || !groups(of: subject).isEmpty }

  /// The latest subject of a user who has moved; nil for one who has not.
  func latestSubject(of subject: Subject) -> Subject? {
    var seen = [subject]
    while let next = moves[seen[seen.count - 1]], !seen.contains(next) { seen.append(next) }
    return seen.count > 1 ? seen.last : nil
  }

  /// All subjects of a user, earlier and later ones, this one first.
  func subjects(of subject: Subject) -> [Subject] {
    var (subjects, next) = ([subject], 0)
    while next < subjects.count {
      let known = subjects[next]
      for (old, new) in moves where old == known || new == known {
        for other in [old, new] where !subjects.contains(other) { subjects.append(other) }
      }
      next += 1
    }
    return subjects
  }

  /// Moves ban and memberships.
  mutating func moveAccess(of old: Subject, to new: Subject) {
    if old != new {
      moves[old] = new
      moves[new] = nil
    }
    if let ban = bans.removeValue(forKey: old) { bans[new] = ban }
    for group in groups(of: old) {
      members[group]?.remove(old)
      members[group]?.insert(new)
    }
  }

  /// Accounts in the order of their subjects, after this one.
  func page(after subject: Subject?, limit: Int) -> [Listed<Account>] {
    let sorted = damaged.union(accounts.keys).sorted { $0.text < $1.text }
    let page = sorted.drop { known in subject.map { known.text <= $0.text } ?? false }.prefix(limit)
    return page.compactMap { subject -> Listed<Account>? in
      if damaged.contains(subject) { return .damaged(DamagedRecord(name: subject.text, what: "account")) }
      return account(subject).map { Listed.readable($0) }
    }
  }

  mutating func add(_ subject: Subject, to group: GroupName) -> Bool {
    requests[subject] = nil
    guard members[group, default: []].insert(subject).inserted else { return false }
    changes.append(.accountChanged(subject))
    return true
  }
}
