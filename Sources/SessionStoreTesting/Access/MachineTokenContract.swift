import FoundationEssentials
import Sessions

extension StoreContract {
  static let machineTokens = [
    StoreContract("A token is found by its public name, by every replica and after a restart") { stores in
      let key = try await stores.first.storeKey()
      let text = MachineTokenText.random(key)
      let token = try token("backup", text.handle)
      try await stores.first.create(token)
      for store in [stores.second, try await stores.reopen()] {
        let handle = try requireValue(
          MachineTokenText.verify(Array(text.text.utf8), try await store.storeKey()), "public name")
        try requireEqual(try await store.token(handle), token, "the token")
      }
      try requireEqual(try await stores.second.token(SessionIdentifier.random().handle), nil, "another token")
    },
    StoreContract("Names of tokens are unique, listed in order, and free again after revocation") { stores in
      let tokens = try ["b", "B", "a.1"].map { try token($0) }
      for token in tokens { try await stores.first.create(token) }
      try requireEqual(
        try await stores.second.machineTokens().records().map(\.name.text), ["B", "a.1", "b"], "the names")
      let again = try token("b", expires: nil)
      try await requireError(.conflict) { () throws(StoreError) in try await stores.second.create(again) }
      try requireEqual(try await stores.first.token(again.handle), nil, "the token that was refused")
      _ = try await stores.first.revokeToken(again.name, at: Scenario.noon)
      try await stores.second.create(again)
      try requireEqual(try await stores.first.token(again.handle), again, "the new token")
      try requireEqual(try await stores.first.token(tokens[0].handle), nil, "the revoked token")
      try requireEqual(try await stores.first.counts().machineTokens, 3, "the number of tokens")
    },
    StoreContract("All that was decided is counted at once as it is one by one") { stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.ban(bob, Scenario.ban(until: Scenario.later(Scenario.day)))
      _ = try await stores.first.add(ada, to: try Scenario.group(), by: "cli", at: Scenario.noon)
      // Being added to a group answers a request: this one comes afterwards.
      _ = try await stores.first.ask(ada, code: .random(), at: Scenario.noon)
      for (name, end) in [("short", Scenario.later(Scenario.day)), ("lasting", nil)] {
        try await stores.first.create(try token(name, expires: end))
      }
      for (moment, bans, tokens) in [(Scenario.noon, 1, 2), (Scenario.later(Scenario.day), 0, 1)] {
        try requireEqual(
          try await stores.second.accessCounts(at: moment),
          AccessCounts(
            requests: 1, bans: bans, invitations: 0, tokens: tokens, members: [try Scenario.group(): 1]), "the counts")
      }
    },
    StoreContract("A new token is a change of its subject, so that its loss is noticed") { stores in
      let token = try token("backup")
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try await stores.first.create(token)
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(token.subject)],
        "the changes")
    },
    StoreContract("A revocation is told to other replicas as an end, once, and as a change of the name in any case") {
      stores in
      let token = try token("backup")
      try await stores.first.create(token)
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try requireEqual(
        try await stores.first.revokeToken(token.name, at: Scenario.noon), token.handle, "the public name")
      try requireEqual(try await stores.second.revokeToken(token.name, at: Scenario.noon), nil, "the second time")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes,
        [.accountChanged(token.subject), .ended(token.handle, .byOperator), .accountChanged(token.subject)],
        "the changes")
      try requireEqual(try await stores.second.token(token.handle), nil, "the token")
      try requireEqual(try await stores.reopen().machineTokens().records(), [], "the tokens after a restart")
    },
    StoreContract("Of 20 calls at once that create one name exactly one succeeds") { stores in
      let tokens = try (0..<20).map { _ in try token("backup") }
      let created = try await stores.concurrently(20) { store, number in
        do throws(StoreError) {
          try await store.create(tokens[number])
          return 1
        } catch {
          try requireEqual(error.code, .conflict, "the error")
          return 0
        }
      }
      try requireEqual(created.reduce(0, +), 1, "the number of successes")
    },
    StoreContract("Expired tokens stay in lists for 30 days; those without an end stay") { stores in
      let (short, lasting) = (try token("short", expires: Scenario.later(Scenario.day)), try token("lasting"))
      for token in [short, lasting] { try await stores.first.create(token) }
      _ = try await stores.first.removeExpired(Scenario.removal(after: .seconds(30 * 86_400)))
      try requireEqual(try await stores.second.machineTokens().records(), [lasting, short], "the tokens after 30 days")
      _ = try await stores.first.removeExpired(Scenario.removal(after: .seconds(31 * 86_400)))
      try requireEqual(try await stores.second.machineTokens().records(), [lasting], "the tokens after 31 days")
    },
  ]

  private static func token(
    _ name: String, _ handle: PublicSessionID = SessionIdentifier.random().handle, expires: Date? = nil
  ) throws -> MachineToken {
    MachineToken(
      name: try Scenario.group(name), handle: handle, group: try Scenario.group("machines"), created: Scenario.noon,
      expires: expires, by: "cli")
  }
}
