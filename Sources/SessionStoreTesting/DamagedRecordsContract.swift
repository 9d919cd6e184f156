package import Sessions

/// The contract of lists with damaged records, which must not keep the others from being listed.
///
/// The tests of a store damage rows of ``init(in:)`` by its own means before ``check()``: the account of ``bob``, the
/// group of the invitation `a`, the handle of the machine token `a`. They add two members to the group `staff`:
/// `001234.carl.0987`, and `not one`, which is no subject.
package struct DamagedRecordsContract: Sendable {
  /// Two sessions of one user, whose account stays whole.
  package let sessions: [Session]
  /// Another user.
  package let bob: Subject
  private let store: any SessionStore
  private let staff: GroupName
  /// The codes of requests for access: of the user of the sessions, and of Bob.
  private let codes: [AccessRequestCode]

  /// Fills an empty store.
  package init(in store: any SessionStore) async throws {
    self.store = store
    staff = try Scenario.group()
    let ada = try Scenario.subject()
    bob = try Scenario.subject("bob")
    sessions = [
      try await store.complete(try Scenario.signIn(ada)).snapshot.session,
      try await store.complete(try Scenario.signIn(ada)).snapshot.session,
    ]
    _ = try await store.complete(try Scenario.signIn(bob, claims: Scenario.claims("bob@example.com")))
    codes = [.random(), .random()]
    for (code, subject) in zip(codes, [ada, bob]) {
      _ = try await store.ask(subject, code: code, at: Scenario.noon)
    }
    for id in ["a", "b"] {
      try await store.create(try Scenario.invitation(id), hash: Array(id.utf8))
      try await store.create(
        MachineToken(
          name: try Scenario.group(id), handle: SessionIdentifier.random().handle, group: staff,
          created: Scenario.noon, expires: nil, by: "cli"))
    }
  }

  /// Tries the contract.
  ///
  /// - Throws: `ContractViolation`, or what the store threw.
  package func check() async throws {
    let requests = try await store.requests(after: nil, limit: 10, at: Scenario.noon)
    try requireEqual(requests.records().map { $0.request.code }, [codes[0]], "the requests")
    try requireEqual(requests.damagedRecords().map(\.name), [codes[1].text], "the damaged requests")
    let invitations = try await store.invitations()
    try requireEqual(invitations.records().map(\.id), ["b"], "the invitations")
    try requireEqual(invitations.damagedRecords().map(\.name), ["a"], "the damaged invitations")
    let tokens = try await store.machineTokens()
    try requireEqual(tokens.records().map(\.name), [try Scenario.group("b")], "the tokens")
    try requireEqual(tokens.damagedRecords().map(\.name), ["a"], "the damaged tokens")
    let members = try await store.members(of: staff, after: nil, limit: 10)
    try requireEqual(members.records().map(\.text), ["001234.carl.0987"], "the members")
    try requireEqual(members.damagedRecords().map(\.name), ["not one"], "the damaged members")
    let counts = try await store.accessCounts(at: Scenario.noon)
    try requireEqual(counts.members, [staff: 2], "the number of members")
    try requireEqual(counts.invitations, 1, "the number of invitations")
    try requireEqual(counts.tokens, 1, "the number of tokens")
  }
}
