internal import AccessPolicy
internal import FoundationEssentials
internal import Sessions

/// The lists that operators and managers see: accounts, groups, requests, invitations and tokens.
extension AccessChanges {
  /// An account in a list.
  struct ListedAccount: Sendable {
    let summary: AccountSummary
    /// The names of all groups that admit the user, by configuration or at run time, sorted.
    let groups: [String]
  }

  /// A part of a list of accounts.
  struct AccountPage: Sendable {
    var accounts: [ListedAccount] = []
    /// The accounts that cannot be read, whatever the list is restricted to.
    var damaged: [DamagedRecord] = []
    /// The subject to go on after; nil at the end.
    var next: Subject?
  }

  /// Accounts in the order of their subjects. A page that is not the last may be short, or even empty.
  /// - Parameters:
  ///   - group: the members of this group only, those by configuration among them.
  ///   - seenSince: users seen at this moment or later only.
  func accounts(
    group: String? = nil, seenSince: Date? = nil, after: Subject? = nil, limit: Int
  ) async throws(AdminError) -> AccountPage {
    if let group { _ = try declared(group) }
    let page: AccountPage = try await read {
      var (page, scanned) = (AccountPage(next: after), 0)
      while true {
        let (batch, start) = (try await store.summaries(after: page.next, limit: Self.batch), page.next)
        for listed in batch {
          page.next = listed.subject ?? page.next
          if let damage = listed.damage { page.damaged.append(damage) }
          guard let summary = listed.record else { continue }
          let names = policy.groupNames(of: summary.account)
          if let group, !names.contains(where: { $0.utf8.elementsEqual(group.utf8) }) { continue }
          if let seenSince, summary.lastSeen < seenSince { continue }
          page.accounts.append(ListedAccount(summary: summary, groups: names))
          if page.accounts.count >= limit { return page }
        }
        scanned += batch.count
        if batch.count < Self.batch {
          page.next = nil
          return page
        }
        if page.next == start, let damage = batch.first?.damage { throw damage.error }
        if scanned >= Self.scanLimit { return page }
      }
    }
    note(page.damaged)
    return page
  }

  /// Logs that records of a list are damaged; the answer names them.
  private func note(_ damaged: [DamagedRecord]) {
    if let first = damaged.first { storeHealth.failed("administration", first.error) }
  }

  /// A group in a list.
  struct ListedGroup: Sendable {
    let name: String
    /// Whether a `[[group]]` declares it; if not, it admits nobody.
    let isDeclared: Bool
    /// The number of members by configuration: subjects, addresses and domains.
    let configured: Int
    /// The number of users who were added at run time.
    let added: Int
    /// The first of them.
    let members: [Subject]
  }

  /// All groups, in the order of their names.
  func groupList() async throws(AdminError) -> [ListedGroup] {
    try await read {
      var counts = try await store.memberCounts()
      var listed: [ListedGroup] = []
      for (name, configured) in zip(policy.groups.names, policy.groups.configuredCounts()) {
        let added = GroupName(name).flatMap { counts.removeValue(forKey: $0) } ?? 0
        listed.append(try await group(name, isDeclared: true, configured, added))
      }
      for (name, added) in counts {
        listed.append(try await group(name.text, isDeclared: false, 0, added))
      }
      return listed.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
  }

  private func group(
    _ name: String, isDeclared: Bool, _ configured: Int, _ added: Int
  ) async throws -> ListedGroup {
    var members: [Subject] = []
    if added > 0, let name = GroupName(name) {
      let listed = try await store.members(of: name, after: nil, limit: Self.shownMembers)
      note(listed.damagedRecords())
      members = listed.records()
    }
    return ListedGroup(name: name, isDeclared: isDeclared, configured: configured, added: added, members: members)
  }

  /// A part of the list of open requests.
  struct RequestPage: Sendable {
    let requests: [(request: AccessRequest, account: Account)]
    /// The requests that cannot be read, or whose accounts cannot.
    let damaged: [DamagedRecord]
    /// The code to go on after; nil at the end.
    let next: AccessRequestCode?

    /// - Parameter limit: the number of requests that were asked for.
    init(_ found: [Listed<(request: AccessRequest, account: Account)>], limit: Int) {
      requests = found.records()
      damaged = found.damagedRecords()
      let last = requests.last?.request.code ?? damaged.last?.name.flatMap { AccessRequestCode($0) }
      next = found.count < limit ? nil : last
    }
  }

  /// Open requests, oldest first.
  /// - Parameter after: the code of the request to go on after.
  func requests(after: AccessRequestCode? = nil, limit: Int) async throws(AdminError) -> RequestPage {
    let page = try await read {
      RequestPage(try await store.requests(after: after, limit: limit, at: now), limit: limit)
    }
    note(page.damaged)
    return page
  }

  /// Invitations, newest first.
  func invitations() async throws(AdminError) -> [Listed<Invitation>] {
    let listed = try await read { try await store.invitations() }
    note(listed.damagedRecords())
    return listed
  }

  /// Machine tokens, in the order of their names.
  func tokens() async throws(AdminError) -> [Listed<MachineToken>] {
    let listed = try await read { try await store.machineTokens() }
    note(listed.damagedRecords())
    return listed
  }

  /// The number of accounts in one read.
  private static let batch = 500
  /// The largest number of accounts that are read for one page.
  private static let scanLimit = 5_000
  /// The largest number of members of a group in a list.
  private static let shownMembers = 100
}
