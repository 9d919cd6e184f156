import Sessions

extension StoreContract {
  static let signingIn = [
    StoreContract("A completed sign-in is found again, by another replica and after a restart") { stores in
      let ada = try Scenario.subject()
      let signIn = try Scenario.signIn(ada, name: Scenario.name("Ada", "Lovelace"))
      let completed = try await stores.first.complete(signIn)
      try require(completed.isNewAccount, "the first sign-in made no new account")
      try requireEqual(completed.ended, [], "what it ended")
      try requireEqual(completed.snapshot.session, signIn.session, "the session")
      let account = completed.snapshot.account
      try requireEqual(account.subject, ada, "the subject")
      try requireEqual(account.name?.text, "Ada Lovelace", "the name")
      try requireEqual(account.claims, signIn.claims, "the claims")
      try requireEqual(account.latestAuthorization, Scenario.noon, "latestAuthorization")
      try requireEqual(account.lastVerified, Scenario.noon, "lastVerified")
      try requireEqual(account.lastAsked, Scenario.noon, "lastAsked")
      let handle = signIn.session.handle
      try requireEqual(try await stores.second.find(handle), completed.snapshot, "what the other replica finds")
      try requireEqual(
        try await stores.reopen().find(handle), completed.snapshot, "what is found after a restart")
    },
    StoreContract("Of 100 concurrent uses of one attempt exactly one succeeds") { stores in
      let replayGuard = ReplayGuard.attempt([1, 2, 3])
      let used = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<100 {
          let store = number.isMultiple(of: 2) ? stores.first : stores.second
          group.addTask { try await store.consume(replayGuard, until: Scenario.later(.seconds(600))) }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      try requireEqual(used, 1, "the number of successes")
    },
    StoreContract("Each attempt, notification and code is used up by itself, also after a restart") { stores in
      let until = Scenario.later(.seconds(600))
      let guards: [ReplayGuard] = [
        .attempt([1]), .attempt([2]), .appReturn([1]), .notification("\u{1}"), .notification("b"),
      ]
      for replayGuard in guards {
        try require(try await stores.first.isConsumed(replayGuard) == false, "a fresh one counts as consumed")
        try require(try await stores.first.consume(replayGuard, until: until), "a fresh one was refused")
      }
      let reopened = try await stores.reopen()
      for replayGuard in guards {
        try require(try await reopened.isConsumed(replayGuard), "a consumed one counts as fresh")
        try require(try await reopened.consume(replayGuard, until: until) == false, "one was consumed twice")
      }
    },
    StoreContract("A name that was kept before the exchange is taken over by the next sign-in") { stores in
      let ada = try Scenario.subject()
      try await stores.first.savePendingName(Scenario.name("Ada"), submittedBy: ada, at: Scenario.noon)
      try requireEqual(try await stores.first.account(ada), nil, "the account before the sign-in")
      let reopened = try await stores.reopen()
      let completed = try await reopened.complete(try Scenario.signIn(ada))
      try requireEqual(completed.snapshot.account.name?.text, "Ada", "the name")
    },
    StoreContract("A name whose sign-in was not completed is removed after 30 days, and not before") { stores in
      let (early, late) = (try Scenario.subject("early"), try Scenario.subject("late"))
      try await stores.first.savePendingName(Scenario.name("Ada"), submittedBy: early, at: Scenario.noon)
      try await stores.first.savePendingName(Scenario.name("Bob"), submittedBy: late, at: Scenario.later(Scenario.day))
      let removed = try await stores.second.removeExpired(Scenario.removal(after: Scenario.day * 30))
      try requireEqual(removed.rows, 1, "how many rows were removed")
      let (first, second) = (try Scenario.signIn(early), try Scenario.signIn(late))
      try requireEqual(try await stores.first.complete(first).snapshot.account.name, nil, "the name that was removed")
      try requireEqual(try await stores.first.complete(second).snapshot.account.name?.text, "Bob", "the later name")
    },
    StoreContract("A name once known is never lost to a sign-in without one") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada", "Lovelace")))
      let second = try await stores.second.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(60))))
      try requireEqual(second.snapshot.account.name?.text, "Ada Lovelace", "the name after the second sign-in")
      try require(!second.isNewAccount, "the second sign-in made a new account")
      try await stores.first.savePendingName(
        Scenario.name("Augusta"), submittedBy: ada, at: Scenario.later(.seconds(90)))
      let third = try await stores.first.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(120))))
      try requireEqual(third.snapshot.account.name?.text, "Augusta", "the name submitted later")
      let fourth = try await stores.first.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(180))))
      try requireEqual(fourth.snapshot.account.name?.text, "Augusta", "the name at last")
    },
    StoreContract("A name that comes with the sign-in replaces the known one, for other sessions too") { stores in
      let ada = try Scenario.subject()
      let before = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada")))
      _ = try await stores.first.complete(
        try Scenario.signIn(ada, at: Scenario.later(.seconds(60)), name: Scenario.name("Augusta")))
      let found = try requireValue(
        try await stores.second.find(before.snapshot.session.handle), "session of the first sign-in")
      try requireEqual(found.account.name?.text, "Augusta", "the name that the first session shows")
    },
    StoreContract("A sign-in replaces the claims but keeps an address the token is silent on") { stores in
      let ada = try Scenario.subject()
      var first = Scenario.claims()
      first.organizationID = "org"
      _ = try await stores.first.complete(try Scenario.signIn(ada, claims: first))
      let second = try await stores.first.complete(
        try Scenario.signIn(ada, at: Scenario.later(.seconds(60)), claims: Scenario.claims(nil)))
      let claims = second.snapshot.account.claims
      try requireEqual(claims.email, "ada@example.com", "the address")
      try requireEqual(claims.emailVerified, true, "whether it is verified")
      try requireEqual(claims.organizationID, nil, "the organization that was left")
    },
    StoreContract("A sign-in ends the session it replaces, also another user's, and only that") { stores in
      let ada = try Scenario.subject()
      let bob = try Scenario.subject("bob")
      let old = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let other = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let completed = try await stores.second.complete(try Scenario.signIn(bob, replacing: old))
      try requireEqual(completed.ended, [old], "what it ended")
      try requireEqual(try await stores.first.find(old), nil, "the replaced session")
      try require(try await stores.first.find(other) != nil, "another session ended too")
      let again = try await stores.second.complete(try Scenario.signIn(bob, replacing: old))
      try requireEqual(again.ended, [], "what replacing an ended session ended")
    },
    StoreContract("A session cannot begin twice, and not again once it ended") { stores in
      let ada = try Scenario.subject()
      let signIn = try Scenario.signIn(ada)
      _ = try await stores.first.complete(signIn)
      try await requireError(.conflict) { () throws(StoreError) in _ = try await stores.second.complete(signIn) }
      try await stores.first.end(.one(signIn.session.handle), because: .signedOut, at: Scenario.noon)
      try await requireError(.conflict) { () throws(StoreError) in _ = try await stores.second.complete(signIn) }
      try requireEqual(try await stores.first.find(signIn.session.handle), nil, "the ended session")
    },
    StoreContract("Of many concurrent sign-ins of one user none is lost") { stores in
      let ada = try Scenario.subject()
      let handles = try await withThrowingTaskGroup(of: PublicSessionID.self) { group in
        for number in 0..<40 {
          let store = number.isMultiple(of: 2) ? stores.first : stores.second
          let signIn = try Scenario.signIn(ada, name: number == 7 ? Scenario.name("Ada") : nil)
          group.addTask { try await store.complete(signIn).snapshot.session.handle }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      let sessions = try await stores.first.sessions(of: ada).records()
      try requireEqual(Set(sessions.map(\.handle)), handles, "the sessions")
      try requireEqual(try await stores.second.account(ada)?.name?.text, "Ada", "the name")
    },
  ]
}
