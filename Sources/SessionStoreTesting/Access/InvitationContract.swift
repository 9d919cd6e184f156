import FoundationEssentials
import Sessions

extension StoreContract {
  static let invitations = [
    StoreContract("An invitation is found by the hash of its code, listed newest first, and ends when it is revoked") {
      stores in
      let code = InvitationCode.random()
      let first = try Scenario.invitation("aaaaaaaa", uses: 3)
      let second = try Scenario.invitation("bbbbbbbb", created: Scenario.later(.seconds(60)))
      try await stores.first.create(first, hash: code.hash)
      try await stores.first.create(second, hash: InvitationCode.random().hash)
      for store in [stores.second, try await stores.reopen()] {
        try requireEqual(try await store.invitation(hash: code.hash), first, "the invitation")
        try requireEqual(try await store.invitations().records(), [second, first], "the invitations")
      }
      try requireEqual(
        try await stores.first.invitation(hash: InvitationCode.random().hash), nil, "the invitation of another code")
      try await requireError(.conflict) { () throws(StoreError) in
        try await stores.second.create(first, hash: InvitationCode.random().hash)
      }
      try require(try await stores.second.revokeInvitation(first.id), "it was not revoked")
      try require(try await !stores.first.revokeInvitation(first.id), "it was revoked twice")
      try requireEqual(try await stores.first.invitation(hash: code.hash), nil, "the revoked invitation")
      try requireEqual(try await stores.first.invitations().records(), [second], "the invitations that are left")
    },
    StoreContract("A user who redeems an invitation is in the group at once for the other replica, and keeps it") {
      stores in
      let (ada, staff, code) = (try Scenario.subject(), try Scenario.group(), InvitationCode.random())
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      _ = try await stores.first.ask(ada, code: .random(), at: Scenario.noon)
      try await stores.first.create(try Scenario.invitation(uses: 2), hash: code.hash)
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try requireEqual(try await redeem(code, ada, stores.first), .joined(staff), "the outcome")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      try requireEqual(try await stores.second.find(session.handle)?.account.access.groups, [staff], "the groups")
      try requireEqual(try await stores.second.request(of: ada, at: Scenario.noon), nil, "the open request")
      try requireEqual(try await redeem(code, ada, stores.second), .alreadyMember(staff), "the outcome of twice")
      let reopened = try await stores.reopen()
      try requireEqual(try await reopened.invitation(hash: code.hash)?.used, 1, "the number of uses")
      try require(try await reopened.revokeInvitation("aaaaaaaa"), "it was not revoked")
      try requireEqual(try await stores.first.groups(of: ada), [staff], "the groups after it was revoked")
    },
    StoreContract("Of 20 users who redeem an invitation for five at once exactly five join") { stores in
      let (staff, code) = (try Scenario.group(), InvitationCode.random())
      let users = try (0..<20).map { try Scenario.subject("user\($0)") }
      for user in users { _ = try await stores.first.complete(try Scenario.signIn(user)) }
      try await stores.first.create(try Scenario.invitation(uses: 5), hash: code.hash)
      let outcomes = try await stores.concurrently(20) { store, number in
        try await redeem(code, users[number], store)
      }
      try requireEqual(outcomes.count { $0 == .joined(staff) }, 5, "the number of those who joined")
      try requireEqual(outcomes.count { $0 == .closed }, 15, "the number of those refused")
      try requireEqual(try await stores.second.invitation(hash: code.hash)?.used, 5, "the number of uses")
      try requireEqual(try await stores.second.memberCounts(), [staff: 5], "the number of members")
    },
    StoreContract("One user who redeems an invitation 20 times at once uses it up once") { stores in
      let (ada, staff, code) = (try Scenario.subject(), try Scenario.group(), InvitationCode.random())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.create(try Scenario.invitation(uses: 5), hash: code.hash)
      let outcomes = try await stores.concurrently(20) { store, _ in try await redeem(code, ada, store) }
      try requireEqual(outcomes.count { $0 == .joined(staff) }, 1, "the number of joinings")
      try requireEqual(outcomes.count { $0 == .alreadyMember(staff) }, 19, "the number of repetitions")
      try requireEqual(try await stores.second.invitation(hash: code.hash)?.used, 1, "the number of uses")
    },
    StoreContract("Members, banned users and unknown users use nothing up") { stores in
      let (staff, code) = (try Scenario.group(), InvitationCode.random())
      let users = try (0..<4).map { try Scenario.subject("user\($0)") }
      for user in users.prefix(3) { _ = try await stores.first.complete(try Scenario.signIn(user)) }
      try await stores.first.create(try Scenario.invitation(), hash: code.hash)
      _ = try await stores.first.add(users[0], to: staff, by: "cli", at: Scenario.noon)
      try requireEqual(try await redeem(code, users[0], stores.second), .alreadyMember(staff), "a member's outcome")
      try requireEqual(
        try await stores.second.redeem(hash: code.hash, by: users[1], isMember: true, at: Scenario.noon),
        .alreadyMember(staff), "a configured member's outcome")
      try await stores.first.ban(users[2], Scenario.ban())
      try requireEqual(try await redeem(code, users[2], stores.second), .banned, "a banned user's outcome")
      try await requireError(.conflict) { () throws(StoreError) in
        _ = try await stores.second.redeem(hash: code.hash, by: users[3], isMember: false, at: Scenario.noon)
      }
      try requireEqual(try await stores.second.invitation(hash: code.hash)?.used, 0, "the number of uses")
      try requireEqual(try await stores.second.memberCounts(), [staff: 1], "the number of members")
    },
    StoreContract("An invitation that has expired, was revoked or never was admits nobody") { stores in
      let (ada, code) = (try Scenario.subject(), InvitationCode.random())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.create(try Scenario.invitation(expires: .seconds(60)), hash: code.hash)
      try requireEqual(
        try await stores.second.redeem(
          hash: code.hash, by: ada, isMember: false, at: Scenario.later(.seconds(60))), .closed, "the expired one")
      _ = try await stores.first.revokeInvitation("aaaaaaaa")
      try requireEqual(try await redeem(code, ada, stores.second), .closed, "the revoked one")
      try requireEqual(try await redeem(.random(), ada, stores.second), .closed, "the one that never was")
      try requireEqual(try await stores.second.groups(of: ada), [], "the groups")
    },
    StoreContract("A user who was removed from the group cannot redeem the same invitation again, nor after a move") {
      stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      let (staff, code) = (try Scenario.group(), InvitationCode.random())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.create(try Scenario.invitation(uses: 5), hash: code.hash)
      _ = try await redeem(code, ada, stores.first)
      _ = try await stores.first.remove(ada, from: staff, at: Scenario.noon)
      try requireEqual(try await redeem(code, ada, stores.second), .closed, "the outcome")
      let move = try await move(ada, to: new, in: stores.first, email: nil)
      try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of the move")
      try requireEqual(try await redeem(code, new, stores.second), .closed, "the outcome after the move")
      try requireEqual(try await stores.second.invitation(hash: code.hash)?.used, 1, "the number of uses")
    },
    StoreContract("A user who leaves and comes back cannot use the same invitation up again, nor after a move") {
      stores in
      let (ada, new, code) = (try Scenario.subject(), try Scenario.subject("new"), InvitationCode.random())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.create(try Scenario.invitation(uses: 5), hash: code.hash)
      _ = try await redeem(code, ada, stores.first)
      try await stores.first.forget(ada, keeping: [], at: Scenario.noon)
      _ = try await stores.second.complete(try Scenario.signIn(ada))
      try requireEqual(try await redeem(code, ada, stores.second), .closed, "the outcome")
      let move = try await move(ada, to: new, in: stores.first, email: nil)
      try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of the move")
      try requireEqual(try await redeem(code, new, stores.second), .closed, "the outcome after the move")
      try requireEqual(try await stores.second.invitation(hash: code.hash)?.used, 1, "the number of uses")
      try requireEqual(try await stores.second.memberCounts(), [:], "the number of members")
    },
    StoreContract("Invitations stay in lists for 30 days after they are used up or expire") { stores in
      let (ada, used, expiring) = (try Scenario.subject(), InvitationCode.random(), InvitationCode.random())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.create(
        try Scenario.invitation("usedused", expires: .seconds(300 * 86_400)), hash: used.hash)
      try await stores.first.create(
        try Scenario.invitation("expiring", expires: .seconds(10 * 86_400)), hash: expiring.hash)
      _ = try await redeem(used, ada, stores.first)
      for (days, left) in [(29, ["expiring", "usedused"]), (30, ["expiring"]), (39, ["expiring"]), (40, [])] {
        _ = try await stores.first.removeExpired(Scenario.removal(after: .seconds(days * 86_400)))
        try requireEqual(
          try await stores.second.invitations().records().map(\.id).sorted(), left,
          "the invitations after \(days) days")
      }
      try requireEqual(try await stores.second.groups(of: ada), [try Scenario.group()], "the groups")
    },
  ]

  private static func redeem(
    _ code: InvitationCode, _ subject: Subject, _ store: any SessionStore
  ) async throws -> RedemptionOutcome {
    try await store.redeem(hash: code.hash, by: subject, isMember: false, at: Scenario.noon)
  }
}
