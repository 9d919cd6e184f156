internal import AccessPolicy
internal import FoundationEssentials
internal import Pages
internal import Sessions
internal import WebFormats

/// Reads the data of the people page. Every list is bounded.
struct PeopleLists: Sendable {
  let store: any AccessStore & AccountStore & SessionRecordStore
  let authority: ManagerAuthority
  let storeHealth: StoreHealth
  let sessions: SessionManager

  /// Accounts on a page.
  static let pageSize = 25
  /// Requests on a page.
  private static let requestLimit = 50
  private static let invitationLimit = 100
  private static let sessionLimit = 100
  /// Accounts that are read at a time, and for one page.
  private static let batch = 200
  private static let scanLimit = 2_000

  /// The list for a manager.
  func list(_ query: PeopleQuery, for manager: Subject) async throws -> PeopleList {
    var list = PeopleList()
    list.groups = authority.groups
    list.result = query.result
    list.search = query.search
    list.newInvitation = InvitationID.random()
    list.newInvitationCode = InvitationCode.random().exposedText
    list.isContinued = query.after != nil || query.requestsAfter != nil
    let found = try await store.requests(after: query.requestsAfter, limit: Self.requestLimit + 1, at: sessions.date)
    // One more shows that the page is not the last.
    let shown = AccessChanges.RequestPage(Array(found.prefix(Self.requestLimit)), limit: Self.requestLimit)
    note(shown.damaged)
    list.requests = shown.requests.map { request, account in
      PeopleList.Request(
        code: request.code.text, person: entry(account, for: manager), asked: PageTime(request.asked))
    }
    if found.count > Self.requestLimit { list.nextRequest = shown.next?.text }
    (list.people, list.next) = try await people(query, for: manager)
    let invitations = try await store.invitations()
    note(invitations.damagedRecords())
    list.invitations = invitations.records().prefix(Self.invitationLimit).map { invitation in
      PeopleList.Invitation(
        id: invitation.id, group: invitation.group.text, used: invitation.used, uses: invitation.uses,
        expires: PageTime(invitation.expires), note: invitation.note,
        isRevocable: !authority.isProtected(group: invitation.group.text))
    }
    return list
  }

  /// One page of accounts, and the subject that the next one goes on after. A page that is not the last may be
  /// short, or even empty, because the number of accounts that are read for one page is limited.
  private func people(
    _ query: PeopleQuery, for manager: Subject
  ) async throws -> (people: [PersonEntry], next: String?) {
    let wanted = AccountSearch(query.search)
    var (found, position, scanned) = ([PersonEntry](), query.after, 0)
    while true {
      let (batch, start) = (try await store.summaries(after: position, limit: Self.batch), position)
      note(batch.damagedRecords())
      for listed in batch {
        if found.count == Self.pageSize { return (found, position?.text) }
        position = listed.subject ?? position
        guard let summary = listed.record, wanted.matches(summary.account) else { continue }
        var entry = entry(summary.account, for: manager)
        entry.sessionCount = summary.sessions
        entry.lastSeen = PageTime(summary.lastSeen)
        found.append(entry)
      }
      scanned += batch.count
      if batch.count < Self.batch { return (found, nil) }
      if position == start, let damage = batch.first?.damage { throw damage.error }
      if scanned >= Self.scanLimit { return (found, position?.text) }
    }
  }

  /// Logs that records of a list are damaged. The page leaves them out: a manager cannot do anything about it.
  private func note(_ damaged: [DamagedRecord]) {
    if let first = damaged.first { storeHealth.failed("people", first.error) }
  }

  /// The page of a person; nil without an account.
  func details(of subject: Subject, for manager: Subject, result: PeopleResult?) async throws -> PersonDetails? {
    guard let account = try await store.account(subject) else { return nil }
    let found = try await store.sessions(of: subject)
    note(found.damagedRecords())
    let sessions = found.records().sorted { $0.lastSeen > $1.lastSeen }
    var person = entry(account, for: manager)
    person.sessionCount = sessions.count
    person.lastSeen = PageTime(sessions.first?.lastSeen ?? account.latestAuthorization)
    let groups = person.groups
    return PersonDetails(
      person: person,
      sessions: sessions.prefix(Self.sessionLimit).map { session in
        PersonSession(
          handle: session.handle.text, userAgent: session.userAgent?.text, began: PageTime(session.began),
          lastSeen: PageTime(session.lastSeen))
      },
      groups: authority.groups.filter { name in !groups.contains { $0.name.utf8.elementsEqual(name.utf8) } },
      result: result)
  }

  private func entry(_ account: Account, for manager: Subject) -> PersonEntry {
    let evaluator = authority.evaluator
    let user = evaluator.principal(account)
    var person = PersonEntry(subject: account.subject.text)
    person.name = account.name?.text
    person.email = account.claims.email
    person.isEmailUnverified = account.claims.email != nil && account.claims.emailVerified != true
    person.groups = evaluator.policy.groupNames(of: user).map { name in
      let isConfigured = evaluator.policy.configuredMember(user, in: name) != nil
      return PersonGroup(
        name: name,
        membership: isConfigured ? .configured : authority.isProtected(group: name) ? .protected : .removable)
    }
    if let ban = account.access.ban, ban.isInForce(at: sessions.date) {
      person.ban = PersonBan(
        until: ban.until.map { PageTime($0) }, reason: ban.reason,
        isLiftable: !ban.isProtected(at: sessions.date))
    }
    person.isSelf = account.subject == manager
    person.isProtected = authority.isProtected(user, from: manager)
    return person
  }
}

/// A search for accounts by the beginning of a name, an address or a subject, without regard to ASCII case.
struct AccountSearch: Sendable {
  private let beginning: [UInt8]

  init(_ text: String) { beginning = text.utf8.map(\.asciiLowercased) }

  /// Whether an account is meant. An empty search means every account.
  func matches(_ account: Account) -> Bool {
    if beginning.isEmpty { return true }
    let names = [account.name?.text, account.name?.given, account.name?.family]
    return ([account.subject.text, account.claims.email] + names).contains { text in
      text?.utf8.lazy.map(\.asciiLowercased).starts(with: beginning) ?? false
    }
  }
}
