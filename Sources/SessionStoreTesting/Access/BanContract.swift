import FoundationEssentials
import Sessions

extension StoreContract {
  static let bans = [
    StoreContract("The store's key is the same for every replica, and after a restart") { stores in
      let key = try await stores.first.storeKey()
      for store in [stores.second, try await stores.reopen()] {
        try requireEqual(try await store.storeKey().exposedBytes, key.exposedBytes, "the key")
      }
      try require(key.exposedBytes.contains { $0 != 0 }, "the key is empty")
    },
    StoreContract("A ban ends every session of the user and nobody else's, and is told to the other replica") {
      stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      var sessions: [PublicSessionID] = []
      for _ in 0..<3 {
        sessions.append(try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle)
      }
      let other = try await stores.first.complete(try Scenario.signIn(bob)).snapshot.session.handle
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let ended = try requireValue(try await stores.first.ban(ada, Scenario.ban()), "ban")
      try requireEqual(ended.mapValues { Set($0) }, [ada: Set(sessions)], "what it ended")
      let changes = try await stores.second.changes(since: start, limit: 10).changes
      try requireEqual(changes.count, 4, "the number of changes")
      for change in sessions.map({ StoreChange.ended($0, .byOperator) }) + [.accountChanged(ada)] {
        try require(changes.contains(change), "\(change) is missing")
      }
      for handle in sessions { try requireEqual(try await stores.second.find(handle), nil, "an ended session") }
      try require(try await stores.second.find(other)?.account.access.ban == nil, "another user is banned")
      try requireEqual(try await stores.second.account(ada)?.access.ban, Scenario.ban(), "the ban of the account")
      try requireEqual(try await stores.reopen().ban(of: ada), Scenario.ban(), "the ban after a restart")
      try require(try await !stores.first.tokens(of: ada).isEmpty, "the refresh token is gone")
    },
    StoreContract("A later ban replaces an earlier one; lifting it works once") { stores in
      let ada = try Scenario.subject()
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      try requireEqual(
        try await stores.first.unban(ada, by: "cli", at: Scenario.noon), .notBanned, "the lifting of no ban")
      try await stores.first.ban(ada, Scenario.ban())
      let until = Scenario.ban(until: Scenario.later(Scenario.day))
      try await stores.second.ban(ada, until)
      try requireEqual(try await stores.first.ban(of: ada), until, "the ban")
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try requireEqual(try await stores.first.unban(ada, by: "token", at: Scenario.noon), .lifted, "the lifting")
      try requireEqual(try await stores.second.unban(ada, by: "cli", at: Scenario.noon), .notBanned, "the second one")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      try requireEqual(try await stores.second.account(ada)?.access.ban, nil, "the ban of the account")
      try requireEqual(try await stores.second.ban(of: ada), nil, "the ban")
      try requireEqual(try await stores.first.find(session.handle), nil, "the session that the ban ended")
    },
    StoreContract("A manager neither lifts nor replaces the ban of an operator while it is in force") { stores in
      let (ada, manager) = (try Scenario.subject(), try Scenario.manager())
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let short = Scenario.ban(until: Scenario.later(Scenario.day))
      for ban in [Scenario.ban(), short] {
        try await stores.first.ban(ada, ban)
        let start = try await stores.second.changes(since: nil, limit: 10).cursor
        try requireEqual(
          try await stores.second.unban(ada, by: manager, at: Scenario.noon), .protected, "the lifting by a manager")
        try requireEqual(
          try await stores.second.ban(ada, Scenario.ban(by: manager)), nil, "what the ban of a manager ended")
        try requireEqual(try await stores.first.ban(of: ada), ban, "the ban")
        try requireEqual(try await stores.second.changes(since: start, limit: 10).changes, [], "the changes")
      }
      let next = Scenario.ban(since: Scenario.later(Scenario.day), by: manager)
      try require(try await stores.second.ban(ada, next) != nil, "a ban that had expired was not replaced")
      try requireEqual(try await stores.first.ban(of: ada), next, "the ban of the manager")
      let other = Scenario.ban(until: Scenario.later(.seconds(2 * 86_400)), since: next.since, by: manager)
      try require(try await stores.first.ban(ada, other) != nil, "the ban of a manager was not replaced by one")
      try requireEqual(try await stores.second.unban(ada, by: manager, at: next.since), .lifted, "its lifting")
      try requireEqual(
        try await stores.second.unban(ada, by: manager, at: next.since), .notBanned, "the lifting of no ban")
      try await stores.first.ban(ada, short)
      try requireEqual(
        try await stores.second.unban(ada, by: manager, at: next.since), .lifted, "the lifting of one that had expired")
      try requireEqual(try await stores.first.find(session.handle), nil, "the session that the first ban ended")
    },
    StoreContract("The ban of an operator stays, when managers lift and replace bans at the same time") { stores in
      let manager = try Scenario.manager()
      for round in 0..<10 {
        // Every other user has an account, and two of four have the ban of a manager, before.
        let user = try Scenario.subject("user\(round)")
        if round.isMultiple(of: 2) { _ = try await stores.first.complete(try Scenario.signIn(user)) }
        if round % 4 < 2 { try await stores.first.ban(user, Scenario.ban(by: manager)) }
        _ = try await stores.concurrently(6) { store, number in
          switch number {
          case 2: _ = try await store.ban(user, Scenario.ban())
          case 1, 4: _ = try await store.ban(user, Scenario.ban(by: manager))
          default: _ = try await store.unban(user, by: manager, at: Scenario.noon)
          }
        }
        try requireEqual(try await stores.second.ban(of: user), Scenario.ban(), "the ban")
      }
    },
    StoreContract("A ban of a user who never signed in is part of the account from the first sign-in") { stores in
      let ada = try Scenario.subject()
      try requireEqual(try await stores.first.ban(ada, Scenario.ban()), [ada: []], "what it ended")
      let completed = try await stores.second.complete(try Scenario.signIn(ada))
      try requireEqual(completed.snapshot.account.access.ban, Scenario.ban(), "the ban of the new account")
      try requireEqual(
        try await stores.first.find(completed.snapshot.session.handle)?.account.access.ban, Scenario.ban(),
        "the ban that comes with the session")
    },
    StoreContract("A ban outlives the account and restarts, and holds for the next account of the same user") {
      stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.ban(ada, Scenario.ban())
      try await stores.second.forget(ada, keeping: [], at: Scenario.noon)
      let reopened = try await stores.reopen()
      try requireEqual(try await reopened.account(ada), nil, "the account")
      try requireEqual(try await reopened.ban(of: ada), Scenario.ban(), "the ban of an unknown user")
      let completed = try await reopened.complete(try Scenario.signIn(ada))
      try require(completed.isNewAccount, "the account was known")
      try requireEqual(completed.snapshot.account.access.ban, Scenario.ban(), "the ban of the new account")
      try requireEqual(
        try await stores.first.accounts(after: nil, limit: 10).records().map(\.access.ban), [Scenario.ban()],
        "the bans in the list")
    },
    StoreContract("A ban survives what Apple notifies of the user") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.ban(ada, Scenario.ban())
      for (number, change) in [AccountNotification.Change.consentRevoked, .accountDeleted(keeping: [])].enumerated() {
        let notification = AccountNotification(
          identifier: "n\(number)", subject: ada, occurred: Scenario.later(.seconds(60)), change: change, message: nil)
        _ = try await stores.first.carryOut(notification, at: Scenario.later(.seconds(60)))
        try requireEqual(try await stores.second.ban(of: ada), Scenario.ban(), "the ban")
      }
    },
    StoreContract("Bans that have expired are shown for a while, and not counted") { stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      let short = Scenario.ban(until: Scenario.later(Scenario.day))
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try await stores.first.ban(ada, short)
      try await stores.first.ban(bob, Scenario.ban())
      try requireEqual(try await stores.second.banCount(at: Scenario.noon), 2, "the number of bans")
      try requireEqual(try await stores.second.banCount(at: Scenario.later(Scenario.day)), 1, "the number a day later")
      _ = try await stores.first.removeExpired(Scenario.removal(after: .seconds(30 * 86_400)))
      try requireEqual(try await stores.second.account(ada)?.access.ban, short, "the ban after 30 days")
      try requireEqual(
        try await stores.first.removeExpired(Scenario.removal(after: .seconds(31 * 86_400))).rows, 1, "what is removed")
      try requireEqual(try await stores.second.account(ada)?.access.ban, nil, "the ban after 31 days")
      try requireEqual(try await stores.second.ban(of: bob), Scenario.ban(), "the ban without an end")
    },
    StoreContract("A ban and a sign-in at the same time leave no session without a ban") { stores in
      for round in 0..<10 {
        // Every other user has an account before.
        let user = try Scenario.subject("user\(round)")
        if round.isMultiple(of: 2) { _ = try await stores.first.complete(try Scenario.signIn(user)) }
        let signIns = try (0..<4).map { _ in try Scenario.signIn(user) }
        _ = try await stores.concurrently(5) { store, number in
          if number == 2 {
            _ = try await store.ban(user, Scenario.ban())
          } else {
            _ = try await store.complete(signIns[number > 2 ? number - 1 : number])
          }
        }
        for signIn in signIns {
          guard let found = try await stores.second.find(signIn.session.handle) else { continue }
          try requireEqual(found.account.access.ban, Scenario.ban(), "the ban of a session's account")
        }
        try requireEqual(try await stores.first.account(user)?.access.ban, Scenario.ban(), "the ban of the account")
      }
    },
    StoreContract("A ban moves with the user to another team; of two the longer one stays") { stores in
      let bans: [(old: Ban?, new: Ban?, kept: Ban?)] = [
        (Scenario.ban(), nil, Scenario.ban()),
        (Scenario.ban(until: Scenario.later(Scenario.day)), Scenario.ban(), Scenario.ban()),
        (Scenario.ban(), Scenario.ban(until: Scenario.later(Scenario.day)), Scenario.ban()),
        (nil, Scenario.ban(), Scenario.ban()), (nil, nil, nil),
      ]
      for (number, ban) in bans.enumerated() {
        let (old, new) = (try Scenario.subject("old\(number)"), try Scenario.subject("new\(number)"))
        _ = try await stores.first.complete(try Scenario.signIn(old))
        if let ban = ban.old { try await stores.first.ban(old, ban) }
        if let ban = ban.new { try await stores.first.ban(new, ban) }
        let move = try await move(old, to: new, in: stores.first, email: nil)
        try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of it")
        try requireEqual(try await stores.second.ban(of: old), nil, "the ban of the old subject")
        try requireEqual(try await stores.second.ban(of: new), ban.kept, "the ban of the new subject")
        try requireEqual(try await stores.second.account(new)?.access.ban, ban.kept, "the ban of the account")
      }
    },
  ]
}
