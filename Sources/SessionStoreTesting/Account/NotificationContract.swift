import FoundationEssentials
import Sessions

extension StoreContract {
  static let notifications = [
    StoreContract("Withdrawn consent ends the sessions and deletes the tokens; account and name stay") { stores in
      let ada = try Scenario.subject()
      let web = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada"))).snapshot.session
      let app = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app)).snapshot.session
      let other = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob"))).snapshot.session
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let outcome = try await stores.first.carryOut(
        notification(ada, .consentRevoked), at: Scenario.later(.seconds(60)))
      try requireEqual(Set(outcome.ended ?? []), [web.handle, app.handle], "what ended")
      let changes = try await stores.second.changes(since: start, limit: 10).changes
      try requireEqual(changes.count, 3, "the number of changes")
      try requireEqual(changes.last, .accountChanged(ada), "the last change")
      for handle in [web.handle, app.handle] {
        try require(changes.contains(.ended(handle, .consentRevoked)), "an end is not a change")
        try requireEqual(try await stores.second.find(handle), nil, "the session")
      }
      try requireEqual(try await stores.second.tokens(of: ada), [], "the tokens")
      try requireEqual(try await stores.second.account(ada)?.name, Scenario.name("Ada"), "the name")
      try require(try await stores.second.find(other.handle) != nil, "another user's session ended")
    },
    StoreContract("Withdrawn consent or a deleted Apple Account of an unknown user is a change: caches may know more") {
      stores in
      let ada = try Scenario.subject()
      for (number, change) in [AccountNotification.Change.consentRevoked, .accountDeleted(keeping: [])].enumerated() {
        let start = try await stores.second.changes(since: nil, limit: 10).cursor
        let outcome = try await stores.first.carryOut(
          notification(ada, change, "\(number)"), at: Scenario.later(.seconds(60)))
        try requireEqual(outcome, .unknownSubject, "what came of it")
        try requireEqual(
          try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      }
    },
    StoreContract("A withdrawn consent from before the latest sign-in ends nothing") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      for (number, moment) in [Scenario.later(.seconds(-60)), Scenario.noon].enumerated() {
        let late = try notification(ada, .consentRevoked, "\(number)", at: moment, message: "late")
        try requireEqual(
          try await stores.first.carryOut(late, at: Scenario.later(.seconds(60))), .outdated, "a late notification")
      }
      try require(try await stores.second.find(handle) != nil, "the session ended")
      try requireEqual(try await stores.second.tokens(of: ada).count, 1, "the number of tokens")
      try requireEqual(try await stores.second.counts().messages, 0, "the number of messages")
    },
    StoreContract("A deleted Apple Account is deleted whatever the time of the latest sign-in") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let late = try notification(
        ada, .accountDeleted(keeping: []), "deleted", at: Scenario.later(.seconds(-60)), message: "late")
      try requireEqual(
        try await stores.first.carryOut(late, at: Scenario.later(.seconds(60))), .carriedOut(ended: [handle]), "the end"
      )
      try requireEqual(try await stores.second.account(ada), nil, "the account")
    },
    StoreContract("A deleted Apple Account leaves nothing behind of a sign-in that was never completed") { stores in
      let ada = try Scenario.subject()
      try await stores.first.savePendingName(Scenario.name("Ada"), submittedBy: ada, at: Scenario.noon)
      let staff = try requireValue(GroupName("staff"), "the group")
      _ = try await stores.first.add(ada, to: staff, by: "cli", at: Scenario.noon)
      let outcome = try await stores.first.carryOut(
        notification(ada, .accountDeleted(keeping: [])), at: Scenario.later(.seconds(60)))
      try requireEqual(outcome, .unknownSubject, "what came of it")
      try requireEqual(try await stores.second.counts().groupMembers, 0, "the members")
      let later = try await stores.second.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(120))))
      try requireEqual(later.snapshot.account.name, nil, "the name")
    },
    StoreContract("A deleted Apple Account leaves nothing behind") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada"))).snapshot
        .session.handle
      let outcome = try await stores.first.carryOut(
        notification(ada, .accountDeleted(keeping: [])), at: Scenario.later(.seconds(60)))
      try requireEqual(outcome, .carriedOut(ended: [handle]), "what came of it")
      try requireEqual(
        try await stores.second.counts(), StoreCounts(accounts: 0, sessions: 0, refreshTokens: 0), "what is left")
      try requireEqual(
        try await stores.second.carryOut(
          notification(ada, .accountDeleted(keeping: []), "2"), at: Scenario.later(.seconds(90))),
        .unknownSubject, "the same of somebody unknown")
    },
    StoreContract("A deleted Apple Account keeps the memberships that deny access, known to us or not") { stores in
      let (ada, eve) = (try Scenario.subject(), try Scenario.subject("eve"))
      let (staff, left) = (try Scenario.group(), try Scenario.group("left"))
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      for (number, subject) in [ada, eve].enumerated() {
        for group in [staff, left] { _ = try await stores.first.add(subject, to: group, by: "cli", at: Scenario.noon) }
        _ = try await stores.first.carryOut(
          notification(subject, .accountDeleted(keeping: [left]), "\(number)"), at: Scenario.later(.seconds(60)))
        try requireEqual(try await stores.second.account(subject), nil, "the account")
        try requireEqual(try await stores.second.groups(of: subject), [left], "the groups")
      }
    },
    StoreContract("Of any number of repetitions exactly one is carried out") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let notification = try notification(ada, .consentRevoked, message: "hello")
      let carriedOut = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          let store = number.isMultiple(of: 2) ? stores.first : stores.second
          group.addTask {
            let outcome = try await store.carryOut(notification, at: Scenario.later(.seconds(60)))
            if outcome.ended == nil { try requireEqual(outcome, .repeated, "a repetition") }
            return outcome.ended != nil
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      try requireEqual(carriedOut, 1, "how many were carried out")
      try requireEqual(try await stores.reopen().counts().messages, 1, "the number of messages")
    },
    StoreContract("Apple's times are compared with Apple's time of the latest authorization, not with our clock") {
      stores in
      let ada = try Scenario.subject()
      // Our clock is a minute ahead.
      let signIn = try Scenario.signIn(ada, at: Scenario.later(.seconds(60)), appleAuthorized: Scenario.noon)
      _ = try await stores.first.complete(signIn)
      try requireEqual(try await stores.second.account(ada)?.appleAuthorized, Scenario.noon, "Apple's time")
      let early = try notification(ada, .consentRevoked, "early", at: Scenario.noon)
      try requireEqual(
        try await stores.first.carryOut(early, at: Scenario.later(.seconds(70))), .outdated, "an early one")
      let late = try notification(ada, .consentRevoked, "late", at: Scenario.later(.seconds(1)))
      try requireEqual(
        try await stores.first.carryOut(late, at: Scenario.later(.seconds(70))),
        .carriedOut(ended: [signIn.session.handle]), "a later one")
    },
    StoreContract("A deleted account is deleted, however old the notification is") { stores in
      let ada = try Scenario.subject()
      let signIn = try Scenario.signIn(ada, appleAuthorized: Scenario.noon)
      _ = try await stores.first.complete(signIn)
      let deleted = try notification(ada, .accountDeleted(keeping: []), "old", at: Scenario.later(.seconds(-3_600)))
      try requireEqual(
        try await stores.first.carryOut(deleted, at: Scenario.later(.seconds(60))),
        .carriedOut(ended: [signIn.session.handle]), "what came of it")
      try requireEqual(try await stores.second.account(ada), nil, "the account")
    },
    StoreContract("Mail forwarding is noted with its address; what happened earlier does not undo it") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, claims: Scenario.claims("old@relay.example")))
      func forwarding(isOn: Bool, _ identifier: String, _ seconds: Int) throws -> AccountNotification {
        try notification(
          ada, .mailForwarding(isOn: isOn, email: "new@relay.example", isPrivateEmail: true), identifier,
          at: Scenario.later(.seconds(seconds)))
      }
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let off = try await stores.first.carryOut(
        try forwarding(isOn: false, "off", 20), at: Scenario.later(.seconds(60)))
      try requireEqual(off, .carriedOut(ended: []), "what came of it")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      let on = try await stores.first.carryOut(try forwarding(isOn: true, "on", 10), at: Scenario.later(.seconds(60)))
      try requireEqual(on, .outdated, "what came of an earlier one")
      let claims = try requireValue(try await stores.second.account(ada), "account").claims
      try requireEqual(claims.mailForwarding?.isOn, false, "whether mail is forwarded")
      try requireEqual(claims.email, "new@relay.example", "the address")
      try requireEqual(claims.emailVerified, true, "whether it is verified")
      try requireEqual(
        try await stores.second.accounts(withEmail: "new@relay.example").records().map(\.subject), [ada],
        "who has the address")
      _ = try await stores.first.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(90))))
      try requireEqual(
        try await stores.second.account(ada)?.claims.mailForwarding?.isOn, false, "it, after the next sign-in")
    },
    StoreContract("Mail forwarding from before the latest sign-in is noted and relayed; the sign-in's address stays") {
      stores in
      for (number, address) in ["new@example.com", nil].enumerated() {
        let user = try Scenario.subject("user\(number)")
        _ = try await stores.first.complete(
          try Scenario.signIn(
            user, at: Scenario.later(.seconds(60)), claims: Scenario.claims(address),
            appleAuthorized: Scenario.later(.seconds(60))))
        let off = try notification(
          user, .mailForwarding(isOn: false, email: "relay@relay.example", isPrivateEmail: true), "\(number)",
          message: "off")
        try requireEqual(
          try await stores.first.carryOut(off, at: Scenario.later(.seconds(90))), .carriedOut(ended: []), "the outcome")
        let claims = try requireValue(try await stores.second.account(user), "account").claims
        try requireEqual(claims.mailForwarding?.isOn, false, "whether mail is forwarded")
        try requireEqual(claims.email, address ?? "relay@relay.example", "the address")
        try requireEqual(try await stores.second.counts().messages, number + 1, "the number of messages")
      }
    },
  ]

  static let messages = [
    StoreContract("A message is kept until it is discarded, and taken by one at a time") { stores in
      let ada = try Scenario.subject()
      for number in 0..<3 {
        let outcome = try await stores.first.carryOut(
          notification(ada, .unknown, "\(number)", message: "text \(number)"),
          at: Scenario.later(.seconds(number)))
        try requireEqual(outcome, .unknownSubject, "what came of it")
      }
      let now = Scenario.later(.seconds(60))
      let lease = Scenario.later(.seconds(90))
      let taken = try await withThrowingTaskGroup(of: OutgoingMessage?.self) { group in
        for number in 0..<8 {
          let store = number.isMultiple(of: 2) ? stores.first : stores.second
          group.addTask { try await store.nextMessage(leasedUntil: lease, at: now)?.record }
        }
        return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
      }
      try requireEqual(Set(taken.map(\.text)), ["text 0", "text 1", "text 2"], "what was taken")
      try requireEqual(taken.count, 3, "how often something was taken")
      try requireEqual(taken.map(\.attempts), [1, 1, 1], "the attempts")
      let ordered = taken.sorted { $0.identifier < $1.identifier }
      try requireEqual(ordered[2].queued, Scenario.later(.seconds(2)), "when the last came")
      try await stores.first.discard(ordered[0])
      try await stores.first.postpone(ordered[1], until: Scenario.later(.seconds(120)))
      let reopened = try await stores.reopen()
      // The third was never given back: it is there again when its lease is over.
      let again = try await reopened.nextMessage(leasedUntil: Scenario.later(.seconds(999)), at: lease)?.record
      try requireEqual(again?.text, "text 2", "what is due when the lease is over")
      try requireEqual(again?.attempts, 2, "its attempts")
      try requireEqual(
        try await reopened.nextMessage(leasedUntil: lease, at: Scenario.later(.seconds(119))), nil,
        "what is due before its time")
      let postponed = try await reopened.nextMessage(
        leasedUntil: Scenario.later(.seconds(999)), at: Scenario.later(.seconds(120)))?.record
      try requireEqual(postponed?.text, "text 1", "what was postponed")
      try requireEqual(try await stores.second.counts().messages, 2, "how many are left")
    },
    StoreContract("A damaged message is kept and set aside for a day, and keeps no other from being taken") { stores in
      let ada = try Scenario.subject()
      for number in 0..<3 {
        _ = try await stores.first.carryOut(
          notification(ada, .unknown, "\(number)", message: "text \(number)"), at: Scenario.later(.seconds(number)))
      }
      try await stores.damage("0")
      func taken(at now: Date) async throws -> [Listed<OutgoingMessage>] {
        var taken: [Listed<OutgoingMessage>] = []
        for _ in 0..<5 {
          let next = try await stores.first.nextMessage(leasedUntil: now.addingTimeInterval(30), at: now)
          if let next { taken.append(next) }
        }
        return taken
      }
      let first = try await taken(at: Scenario.later(.seconds(60)))
      try requireEqual(first.damagedRecords().map(\.name), ["0"], "what is damaged")
      try requireEqual(first.records().map(\.text), ["text 1", "text 2"], "what was taken")
      let next = try await taken(at: Scenario.later(.seconds(60 + 86_399)))
      try requireEqual(next.damagedRecords().map(\.name), [], "what is damaged within the day")
      try requireEqual(next.records().map(\.attempts), [2, 2], "the attempts")
      let last = try await taken(at: Scenario.later(.seconds(60 + 86_400)))
      try requireEqual(last.damagedRecords().map(\.name), ["0"], "what is damaged after the day")
      try requireEqual(try await stores.second.counts().messages, 3, "how many are left")
    },
  ]

  private static func notification(
    _ subject: Subject, _ change: AccountNotification.Change, _ identifier: String = "1",
    at occurred: Date = Scenario.later(.seconds(30)), message: String? = nil
  ) throws -> AccountNotification {
    AccountNotification(
      identifier: identifier, subject: subject, occurred: occurred, change: change, message: message)
  }
}

extension NotificationOutcome {
  fileprivate var ended: [PublicSessionID]? {
    if case .carriedOut(let ended) = self { return ended }
    return nil
  }
}
