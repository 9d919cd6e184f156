import FoundationEssentials
internal import Secrets
import Sessions

extension StoreContract {
  static let revalidations = [
    StoreContract("Of 200 concurrent requests for a lease exactly one is granted") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let now = Scenario.later(Scenario.day)
      let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<200 {
          let store = number.isMultiple(of: 2) ? stores.first : stores.second
          group.addTask {
            let outcome = try await store.acquireLease(
              of: ada, preferring: Scenario.web, interval: Scenario.day, now: now)
            if outcome.granted == nil {
              try requireEqual(outcome.notYet?.lastAsked, now, "lastAsked of a request that is refused")
            }
            return outcome.granted != nil
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      try requireEqual(granted, 1, "the number of granted leases")
    },
    StoreContract("A sign-in counts as asking: nobody may ask a millisecond before the interval is over") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let tooEarly = Scenario.later(Scenario.day).addingTimeInterval(-0.001)
      for now in [Scenario.later(.seconds(-3_600)), Scenario.noon, tooEarly] {
        let outcome = try await stores.second.acquireLease(
          of: ada, preferring: Scenario.web, interval: Scenario.day, now: now)
        try requireEqual(outcome.notYet?.subject, ada, "the account of a refused request")
      }
      let lease = try await acquiredLease(ada, at: Scenario.later(Scenario.day), in: stores.second)
      try requireEqual(lease.previouslyAsked, Scenario.noon, "when it was asked before")
      try requireEqual(lease.acquiredAt, Scenario.later(Scenario.day), "when it was acquired")
      try requireEqual(
        try await stores.first.account(ada)?.lastAsked, Scenario.later(Scenario.day), "lastAsked after the lease")
    },
    StoreContract("A lease survives a restart, whether or not an answer came") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await acquiredLease(ada, at: Scenario.later(Scenario.day), in: stores.first)
      let outcome = try await stores.reopen().acquireLease(
        of: ada, preferring: Scenario.web, interval: Scenario.day, now: Scenario.later(.seconds(86_400 + 3_600)))
      try require(outcome.notYet != nil, "it was granted again after a restart")
    },
    StoreContract("A lease that was released can be acquired again; a late release changes nothing") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let now = Scenario.later(Scenario.day)
      let first = try await acquiredLease(ada, at: now, in: stores.first)
      try await stores.first.releaseLease(first)
      try requireEqual(try await stores.second.account(ada)?.lastAsked, Scenario.noon, "lastAsked after the return")
      let second = try await acquiredLease(ada, at: now.addingTimeInterval(5), in: stores.second)
      try await stores.first.releaseLease(first)
      try requireEqual(
        try await stores.second.account(ada)?.lastAsked, now.addingTimeInterval(5), "lastAsked after a late return")
      _ = try await stores.first.complete(try Scenario.signIn(ada, at: now.addingTimeInterval(10)))
      try await stores.second.releaseLease(second)
      try requireEqual(
        try await stores.second.account(ada)?.lastAsked, now.addingTimeInterval(10),
        "lastAsked when somebody signed in before the return")
    },
    StoreContract("Every replica sees whether an answer to a lease is recorded; a return restores the one before") {
      stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let now = Scenario.later(Scenario.day)
      let first = try await acquiredLease(ada, at: now, in: stores.first)
      try requireEqual(try await isYoung(ada, at: now, in: stores.second), true, "whether an answer may come")
      _ = try await stores.first.record(.noGoodAnswer, of: first, at: now)
      try requireEqual(try await isYoung(ada, at: now, in: stores.second), false, "whether an answer may come at last")
      let next = now.addingTimeInterval(86_400)
      let second = try await acquiredLease(ada, at: next, in: stores.second)
      try requireEqual(second.previousAnswer, .noGoodAnswer, "the answer before")
      try requireEqual(try await isYoung(ada, at: next, in: stores.first), true, "whether a second answer may come")
      try requireEqual(try await stores.first.account(ada)?.lastAnswer, nil, "the last answer during a lease")
      try await stores.second.releaseLease(second)
      try requireEqual(try await isYoung(ada, at: next, in: stores.first), false, "whether one may come after it")
      try requireEqual(
        try await stores.first.account(ada)?.lastAnswer, .noGoodAnswer, "the last answer after the return")
    },
    StoreContract("The token of the preferred client is used, another's if it has no token") { stores in
      let ada = try Scenario.subject()
      let keyring = try Scenario.keyring()
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: "web token"))
      _ = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app, token: "app token"))
      for (index, (preferred, expected)) in [
        (Scenario.app, Scenario.app), (Scenario.web, Scenario.web), ("com.example.other", nil),
      ].enumerated() {
        let lease = try await acquiredLease(
          ada, at: Scenario.later(.seconds(86_400 * (index + 1))), preferring: preferred, in: stores.second)
        if let expected { try requireEqual(lease.clientID, expected, "the client") }
        let text = try keyring.open(lease.token, of: ada, clientID: lease.clientID)
        try requireEqual(
          text, RefreshToken(lease.clientID == Scenario.app ? "app token" : "web token"), "the token")
      }
    },
    StoreContract("A lease counts as a failed attempt until a good answer: the first stays, released or not") {
      stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try requireEqual(
        try await failingSince(ada, in: stores.second), nil, "since when a check fails, after the sign-in")
      let first = Scenario.later(.seconds(2 * 86_400))
      let lease = try await acquiredLease(ada, at: first, in: stores.first)
      try requireEqual(
        try await failingSince(ada, in: stores.second), first, "since when a check fails, after the lease")
      try await stores.first.releaseLease(lease)
      try requireEqual(
        try await failingSince(ada, in: stores.second), first, "since when a check fails, after the return")
      let again = try await acquiredLease(ada, at: first.addingTimeInterval(60), in: stores.first)
      let bad = try await stores.first.record(.noGoodAnswer, of: again, at: first.addingTimeInterval(61))
      try requireEqual(bad.account?.checkFailingSince, first, "since when a check fails, after no good answer")
      let last = try await acquiredLease(ada, at: first.addingTimeInterval(2 * 86_400), in: stores.first)
      try requireEqual(
        try await failingSince(ada, in: stores.second), first, "since when a check fails, after another lease")
      _ = try await stores.first.record(.good(claims: nil, token: nil), of: last, at: first.addingTimeInterval(172_801))
      try requireEqual(
        try await failingSince(ada, in: stores.second), nil, "since when a check fails, after a good answer")
      _ = try await acquiredLease(ada, at: first.addingTimeInterval(5 * 86_400), in: stores.first)
      _ = try await stores.first.complete(try Scenario.signIn(ada, at: first.addingTimeInterval(6 * 86_400)))
      try requireEqual(
        try await failingSince(ada, in: stores.second), nil, "since when a check fails, after another sign-in")
    },
    StoreContract("A last question far in the future was written by a clock that was wrong: a lease is granted") {
      stores in
      let ada = try Scenario.subject()
      let wrong = Scenario.noon.addingTimeInterval(10 * 365 * 86_400)
      _ = try await stores.first.complete(try Scenario.signIn(ada, at: wrong))
      let lease = try await acquiredLease(ada, at: Scenario.noon, in: stores.second)
      let recorded = try await stores.second.record(.good(claims: nil, token: nil), of: lease, at: Scenario.noon)
      try requireEqual(recorded.account?.lastAsked, Scenario.noon, "lastAsked")
      try requireEqual(recorded.account?.lastVerified, Scenario.noon, "lastVerified")
    },
    StoreContract("A token that is damaged is leased as any other, so that the attempt counts as failed") { stores in
      let ada = try Scenario.subject()
      let signIn = try Scenario.signIn(ada)
      _ = try await stores.first.complete(
        SignIn(
          session: signIn.session, name: nil, claims: signIn.claims, token: EncryptedToken(stored: [0xFF, 0, 1]),
          replacing: nil, appleAuthorized: nil))
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.second)
      let keyring = try Scenario.keyring()
      try require((try? keyring.open(lease.token, of: ada, clientID: lease.clientID)) == nil, "it could be decrypted")
      _ = try await stores.second.record(.noGoodAnswer, of: lease, at: now)
      try requireEqual(try await failingSince(ada, in: stores.first), now, "since when a check fails")
    },
    StoreContract("An account without a token fails from when a check was due") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: nil))
      for hours in [80, 90] {
        let outcome = try await stores.first.acquireLease(
          of: ada, preferring: Scenario.web, interval: Scenario.day, now: Scenario.later(.seconds(hours * 3_600)))
        try require(outcome.isNothingToAskWith, "there was something to ask with")
        try requireEqual(
          try await stores.second.account(ada)?.checkFailingSince, Scenario.later(Scenario.day), "since when it fails")
      }
    },
    StoreContract("Without an account or without a token there is nothing to ask with") { stores in
      let ada = try Scenario.subject()
      func outcome() async throws -> RevalidationLeaseOutcome {
        try await stores.first.acquireLease(
          of: ada, preferring: Scenario.web, interval: Scenario.day, now: Scenario.later(Scenario.day))
      }
      try require(try await outcome().isNothingToAskWith, "an unknown user could be asked about")
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: nil))
      try require(try await outcome().isNothingToAskWith, "a user without a token could be asked about")
    },
    StoreContract("A good answer moves lastVerified on and merges claims") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      var claims = AccountClaims()
      claims.organizationID = "org"
      let recorded = try await stores.second.record(.good(claims: claims, token: nil), of: lease, at: now)
      try requireEqual(recorded.ended, [], "what a good answer ended")
      let account = try requireValue(try await stores.first.find(handle)?.account, "account")
      try requireEqual(account, recorded.account, "the recorded account")
      try requireEqual(account.lastVerified, now, "lastVerified")
      try requireEqual(account.latestAuthorization, Scenario.noon, "latestAuthorization")
      try requireEqual(account.lastAnswer, .good, "the last answer")
      try requireEqual(account.claims.organizationID, "org", "a claim that came")
      try requireEqual(account.claims.email, "ada@example.com", "a claim that did not come")
    },
    StoreContract("A recorded account is the one that is read next, to the millisecond") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let now = Scenario.later(Scenario.day).addingTimeInterval(0.123_456)
      for (days, answer) in [RevalidationRecord.noGoodAnswer, .good(claims: nil, token: nil)].enumerated() {
        let asked = now.addingTimeInterval(TimeInterval(days) * 86_400)
        let lease = try await acquiredLease(ada, at: asked, in: stores.first)
        let recorded = try await stores.first.record(answer, of: lease, at: asked.addingTimeInterval(0.000_777))
        try requireEqual(try await stores.second.account(ada), recorded.account, "the account after \(answer.kind)")
      }
    },
    StoreContract("A new token that came with a good answer is the one to ask with next") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: "old"))
      let now = Scenario.later(Scenario.day)
      let first = try await acquiredLease(ada, at: now, in: stores.first)
      let fresh = try Scenario.token("fresh", of: ada)
      _ = try await stores.first.record(.good(claims: nil, token: fresh), of: first, at: now)
      let second = try await acquiredLease(ada, at: now.addingTimeInterval(86_400), in: stores.first)
      try requireEqual(second.token, fresh, "the token")
    },
    StoreContract("A revocation ends the sessions that rest on the token, deletes it, and nothing else") { stores in
      let ada = try Scenario.subject()
      let web = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let app = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app)).snapshot
        .session.handle
      let now = Scenario.later(Scenario.day)
      let first = try await acquiredLease(ada, at: now, in: stores.first)
      let recorded = try await stores.first.record(.revoked, of: first, at: now)
      try requireEqual(recorded.ended, [web], "what ended")
      try requireEqual(recorded.account?.lastVerified, Scenario.noon, "lastVerified")
      try requireEqual(recorded.account?.lastAnswer, .revoked, "the last answer")
      try requireEqual(try await stores.second.find(web), nil, "the session")
      try require(try await stores.second.find(app) != nil, "the other client's session ended")
      let next = try await acquiredLease(ada, at: now.addingTimeInterval(86_400), in: stores.second)
      try requireEqual(next.clientID, Scenario.app, "whose token is left")
    },
    StoreContract("A late revocation of a token that was replaced since ends nothing") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: "old"))
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      let fresh = try Scenario.signIn(ada, at: now.addingTimeInterval(1), token: "new")
      _ = try await stores.second.complete(fresh)
      let recorded = try await stores.first.record(.revoked, of: lease, at: now.addingTimeInterval(2))
      try requireEqual(recorded.ended, [], "what ended")
      try require(try await stores.first.find(fresh.session.handle) != nil, "the new session ended")
      try requireEqual(try await stores.first.counts().refreshTokens, 1, "the number of tokens")
      let late = try Scenario.token("from the old one", of: ada)
      _ = try await stores.first.record(.good(claims: nil, token: late), of: lease, at: now.addingTimeInterval(3))
      let next = try await acquiredLease(ada, at: now.addingTimeInterval(86_401), in: stores.first)
      try requireEqual(next.token, fresh.token, "the token to ask with next")
    },
    StoreContract("A late result after a sign-in with another client ends what rests on its token, and nothing else") {
      stores in
      let ada = try Scenario.subject()
      let web = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      let app = try Scenario.signIn(ada, clientID: Scenario.app, at: now.addingTimeInterval(5))
      let after = try await stores.second.complete(app).snapshot.account
      let good = try await stores.first.record(
        .good(claims: nil, token: nil), of: lease, at: now.addingTimeInterval(3_600))
      try requireEqual(good.account, after, "the account after a late confirmation")
      let revoked = try await stores.first.record(.revoked, of: lease, at: now.addingTimeInterval(3_600))
      try requireEqual(revoked.ended, [web], "what ended")
      try requireEqual(try await stores.second.account(ada), after, "the account after a late revocation")
      try require(try await stores.second.find(app.session.handle) != nil, "the new session ended")
    },
    StoreContract("A late result has no effect once Apple was asked again") { stores in
      let ada = try Scenario.subject()
      let web = try await stores.first.complete(try Scenario.signIn(ada, token: "old")).snapshot.session.handle
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      let next = now.addingTimeInterval(86_400)
      let newer = try await acquiredLease(ada, at: next, in: stores.second)
      let fresh = try Scenario.token("fresh", of: ada)
      let expected = try await stores.second.record(.good(claims: nil, token: fresh), of: newer, at: next).account
      let late = try Scenario.token("late", of: ada)
      for answer in [RevalidationRecord.revoked, .noGoodAnswer, .good(claims: nil, token: late)] {
        let recorded = try await stores.first.record(answer, of: lease, at: next.addingTimeInterval(60))
        try requireEqual(recorded.ended, [], "what \(answer.kind) ended")
        try requireEqual(recorded.account, expected, "the account after \(answer.kind)")
      }
      try require(try await stores.first.find(web) != nil, "the session ended")
      try requireEqual(try await stores.first.account(ada), expected, "the account at last")
      let last = try await acquiredLease(ada, at: next.addingTimeInterval(86_400), in: stores.first)
      try requireEqual(last.token, fresh, "the token to ask with next")
    },
    StoreContract("No good answer ends nothing and verifies nothing") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      let recorded = try await stores.first.record(.noGoodAnswer, of: lease, at: now)
      try requireEqual(recorded.ended, [], "what ended")
      let account = try requireValue(try await stores.second.find(handle)?.account, "account")
      try requireEqual(account.lastVerified, Scenario.noon, "lastVerified")
      try requireEqual(account.lastAsked, now, "lastAsked")
      try requireEqual(account.lastAnswer, .noGoodAnswer, "the last answer")
    },
    StoreContract("An answer about a user who was forgotten meanwhile brings nobody back") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let now = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      try await stores.second.forget(ada, keeping: [], at: now)
      let recorded = try await stores.first.record(.good(claims: nil, token: nil), of: lease, at: now)
      try requireEqual(recorded.account, nil, "the account")
      try await stores.first.releaseLease(lease)
      try requireEqual(try await stores.first.account(ada), nil, "the account at last")
    },
    StoreContract("Times that a clock far ahead wrote are corrected by the next sign-in") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(400 * 86_400))))
      let account = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.account
      try requireEqual(account.lastVerified, Scenario.noon, "lastVerified")
      try requireEqual(account.lastAsked, Scenario.noon, "lastAsked")
      try requireEqual(account.latestAuthorization, Scenario.noon, "latestAuthorization")
      let behind = try await stores.second.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(-5))))
      try requireEqual(behind.snapshot.account.lastAsked, Scenario.noon, "lastAsked after a clock a little behind")
    },
  ]

  private static func failingSince(_ subject: Subject, in store: any SessionStore) async throws -> Date? {
    try await store.account(subject)?.checkFailingSince
  }

  private static func isYoung(_ subject: Subject, at now: Date, in store: any SessionStore) async throws -> Bool? {
    try await store.account(subject)?.isLeaseYoung(at: now)
  }

  /// The lease for the user's next revalidation, which must be due.
  static func acquiredLease(
    _ subject: Subject, at now: Date, preferring clientID: String = Scenario.web, in store: any SessionStore
  ) async throws -> RevalidationLease {
    let outcome = try await store.acquireLease(of: subject, preferring: clientID, interval: Scenario.day, now: now)
    return try requireValue(outcome.granted, "lease")
  }
}
