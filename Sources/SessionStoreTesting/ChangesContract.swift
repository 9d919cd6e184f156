import FoundationEssentials
import Sessions

extension StoreContract {
  static let changes = [
    StoreContract("Another replica learns what ended and why, in order, once") { stores in
      let ada = try Scenario.subject()
      let handles = try await sessions(4, of: ada, in: stores.first)
      let start = try await stores.second.changes(since: nil, limit: 100)
      try requireEqual(start.changes, [], "the changes without a cursor")
      try require(!start.isIncomplete, "a fresh cursor is incomplete")
      for handle in handles.prefix(3) {
        try await stores.first.end(.one(handle), because: .signedOut, at: Scenario.noon)
      }
      try await stores.second.end(.all(of: ada), because: .byOperator, at: Scenario.noon)
      let expected =
        handles.prefix(3).map { StoreChange.ended($0, .signedOut) } + [.ended(handles[3], .byOperator)]
        + [.accountChanged(ada)]
      let page = try await stores.second.changes(since: start.cursor, limit: 3)
      try requireEqual(page.changes, Array(expected.prefix(3)), "the first page")
      let rest = try await stores.first.changes(since: page.cursor, limit: 3)
      try requireEqual(rest.changes, Array(expected.dropFirst(3)), "the second page")
      let end = try await stores.reopen().changes(since: rest.cursor, limit: 3)
      try requireEqual(end.changes, [], "what is left")
      try requireEqual(end.cursor, rest.cursor, "the cursor at the end")
      try require(!page.isIncomplete && !rest.isIncomplete && !end.isIncomplete, "changes are said to be missing")
    },
    StoreContract("The end of sessions that the store has lost is a change: others may have them") { stores in
      let ada = try Scenario.subject()
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let lost = SessionIdentifier.random().handle
      try requireEqual(
        try await stores.first.end(.one(lost), because: .signedOut, at: Scenario.noon), [], "what ended")
      try await stores.first.end(.all(of: ada), because: .byOperator, at: Scenario.noon)
      let changes = try await stores.second.changes(since: start, limit: 10).changes
      try requireEqual(changes, [.ended(lost, .signedOut), .accountChanged(ada)], "the changes")
    },
    StoreContract("Every way a session ends is a change") { stores in
      let ada = try Scenario.subject()
      let handles = try await sessions(1, of: ada, in: stores.first)
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let second = try Scenario.signIn(ada, at: Scenario.later(.seconds(1)), replacing: handles[0])
      _ = try await stores.first.complete(second)
      let now = Scenario.later(.seconds(2 * 86_400))
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      _ = try await stores.first.record(.revoked, of: lease, at: now)
      let third = try Scenario.signIn(ada, at: now)
      _ = try await stores.first.complete(third)
      try await stores.first.forget(ada, keeping: [], at: now)
      let changes = try await stores.second.changes(since: start, limit: 10).changes
      try requireEqual(
        changes,
        [
          .ended(handles[0], .replaced), .signedIn(ada), .ended(second.session.handle, .revoked),
          .signedIn(ada), .ended(third.session.handle, .accountRemoved), .accountChanged(ada),
        ], "the changes")
    },
    StoreContract("Every sign-in is a change, so that its loss is noticed, whether the account stays the same or not") {
      stores in
      let ada = try Scenario.subject()
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      for number in 1...2 {
        _ = try await sessions(1, of: ada, in: stores.first)
        let changes = try await stores.second.changes(since: start, limit: 10).changes
        try requireEqual(
          changes, Array(repeating: StoreChange.signedIn(ada), count: number), "the changes so far")
      }
      _ = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada")))
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes.last, .accountChanged(ada),
        "the change of a sign-in with a name")
    },
    StoreContract("A removal of a user whom the store does not know is a change: others may have the user's sessions") {
      stores in
      let ada = try Scenario.subject()
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try requireEqual(try await stores.first.forget(ada, keeping: [], at: Scenario.noon), [], "what ended")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
    },
    StoreContract("Claims that a revalidation brought are a change of the account") { stores in
      let ada = try Scenario.subject()
      _ = try await sessions(1, of: ada, in: stores.first)
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      let claims = Scenario.claims("new@example.com")
      _ = try await stores.first.record(.good(claims: claims, token: nil), of: lease, at: now)
      let changes = try await stores.second.changes(since: start, limit: 10).changes
      try requireEqual(changes, [.accountChanged(ada)], "the changes")
    },
    StoreContract("Claims that tell of a token alone are not a change of the account, and are stored") { stores in
      let ada = try Scenario.subject()
      let handle = try await sessions(1, of: ada, in: stores.first)[0]
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      var claims = Scenario.claims()
      claims.other["iat"] = .integer(1_790_086_400)
      claims.other["exp"] = .integer(1_790_172_800)
      _ = try await stores.first.record(.good(claims: claims, token: nil), of: lease, at: now)
      try requireEqual(try await stores.second.changes(since: start, limit: 10).changes, [], "the changes")
      let account = try requireValue(try await stores.second.find(handle)?.account, "account")
      try requireEqual(account.claims.other["exp"], .integer(1_790_172_800), "the claim")
    },
    StoreContract("A replica that was away too long, or is a stranger, learns that changes are missing") { stores in
      let ada = try Scenario.subject()
      let handles = try await sessions(3, of: ada, in: stores.first)
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      for handle in handles { try await stores.first.end(.one(handle), because: .signedOut, at: Scenario.noon) }
      let rule = RemovalRule(
        now: Scenario.later(.seconds(7_200)), idleTimeout: Scenario.day, rememberChanges: .seconds(3_600))
      // Three sign-ins and three ends.
      try requireEqual(try await stores.first.removeExpired(rule).rows, 6, "how many changes were removed")
      let late = try await stores.second.changes(since: start, limit: 10)
      try requireEqual(late.gap, .forgotten, "the gap of a late cursor")
      let next = try await stores.second.changes(since: late.cursor, limit: 10)
      try require(!next.isIncomplete, "the new cursor is incomplete")
      for text in ["", "x", "1", ":", "other:0", "\(late.cursor.text)0000"] {
        let strange = try await stores.second.changes(since: ChangeCursor(text: text), limit: 10)
        try require(strange.gap.isRollback, "the cursor \(text) is believed")
      }
    },
    StoreContract("The latest use of any session is known, as far as it was written") { stores in
      try requireEqual(try await stores.second.latestUse(), nil, "the latest use without sessions")
      let (early, late) = (try Scenario.signIn(try Scenario.subject()), try Scenario.signIn(try Scenario.subject()))
      for signIn in [early, late] { _ = try await stores.first.complete(signIn) }
      let seen = Scenario.later(.seconds(86_400))
      try await stores.first.updateLastSeen([LastSeenUpdate(handle: early.session.handle, seen: seen)])
      try requireEqual(try await stores.second.latestUse(), seen, "the latest use")
    },
    StoreContract("Without sessions the latest use is that of a sign-in or a ban: no wrong clock removes these") {
      stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      let banned = Scenario.later(.zero - Scenario.day)
      try await stores.first.ban(bob, Scenario.ban(since: banned))
      try requireEqual(try await stores.second.latestUse(), banned, "the latest use with a ban only")
      let signIn = try Scenario.signIn(ada)
      _ = try await stores.first.complete(signIn)
      try await stores.first.ban(ada, Scenario.ban(since: banned))
      let authorized = try requireValue(try await stores.second.account(ada), "account").latestAuthorization
      try requireEqual(try await stores.second.latestUse(), authorized, "the latest use without sessions")
    },
    StoreContract("What is over is removed in small batches, and nothing else") { stores in
      let ada = try Scenario.subject()
      let short = try Scenario.signIn(ada, lifetime: .seconds(3_600))
      let idle = try Scenario.signIn(ada)
      let alive = try Scenario.signIn(ada)
      for signIn in [short, idle, alive] { _ = try await stores.first.complete(signIn) }
      let now = Scenario.later(.seconds(10 * 86_400))
      try await stores.first.updateLastSeen([LastSeenUpdate(handle: alive.session.handle, seen: now)])
      for number in UInt8(0)..<5 {
        _ = try await stores.first.consume(.attempt([number]), until: Scenario.later(.seconds(600)))
      }
      _ = try await stores.first.consume(.attempt([9]), until: now.addingTimeInterval(600))
      let rule = RemovalRule(now: now, idleTimeout: .seconds(7 * 86_400), limit: 2)
      var batches: [Int] = []
      var sessions: [PublicSessionID] = []
      while batches.last != 0 {
        let removed = try await stores.second.removeExpired(rule)
        batches.append(removed.rows)
        sessions += removed.sessions
      }
      try requireEqual(Set(sessions), [short.session.handle, idle.session.handle], "the sessions that were removed")
      // Two sessions, five replay guards, and the changes of three sign-ins.
      try requireEqual(batches.reduce(0, +), 10, "how many rows were removed")
      try require(batches.count >= 4, "the batches are larger than the limit")
      try requireEqual(try await stores.first.find(short.session.handle), nil, "the session that ended")
      try requireEqual(try await stores.first.find(idle.session.handle), nil, "the session that was idle")
      try require(try await stores.first.find(alive.session.handle) != nil, "a living session was removed")
      try require(try await stores.first.account(ada) != nil, "the account was removed")
      try requireEqual(try await stores.first.counts().refreshTokens, 1, "the number of tokens")
      try require(
        try await stores.first.consume(.attempt([9]), until: now) == false, "a guard was removed before its time")
      try require(
        try await stores.first.consume(.attempt([0]), until: now), "a guard whose time was over was not removed")
    },
  ]

  static let closing = [
    StoreContract("A ping succeeds while the store is there") { stores in
      try await stores.first.ping()
      try await stores.second.ping()
    },
    StoreContract("A closed store says so, closing it again is not an error, and the data stays") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      try await stores.first.close()
      try await stores.first.close()
      try await requireError(.closed) { () throws(StoreError) in _ = try await stores.first.find(handle) }
      try await requireError(.closed) { () throws(StoreError) in
        try await stores.first.end(.one(handle), because: .signedOut, at: Scenario.noon)
      }
      try require(try await stores.second.find(handle) != nil, "the other replica lost the session")
      try require(try await stores.reopen().find(handle) != nil, "the session was lost")
    },
    StoreContract("What a cancelled caller began is done wholly or not at all") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await stores.first.end(.one(handle), because: .signedOut, at: Scenario.noon)
      }
      let acknowledged = try? await task.value
      let isThere = try await stores.second.find(handle) != nil
      try require(acknowledged == nil || !isThere, "an acknowledged end did not happen")
    },
  ]

  private static func sessions(
    _ count: Int, of subject: Subject, in store: any SessionStore
  ) async throws -> [PublicSessionID] {
    var handles: [PublicSessionID] = []
    for _ in 0..<count {
      handles.append(try await store.complete(try Scenario.signIn(subject)).snapshot.session.handle)
    }
    return handles
  }
}
