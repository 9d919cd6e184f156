import FoundationEssentials
import Sessions

extension StoreContract {
  static let accountAccess = [
    StoreContract("A discarded token is noted until a sign-in is admitted, and told to the user's other sessions") {
      stores in
      let ada = try Scenario.subject()
      let first = try await stores.first.complete(try Scenario.signIn(ada, token: nil, discardsToken: true))
      try require(first.snapshot.account.access.isTokenDiscarded, "it was not noted")
      let found = try await stores.second.find(first.snapshot.session.handle)
      try requireEqual(found, first.snapshot, "what the other replica finds")
      let again = try await stores.first.complete(try Scenario.signIn(ada, token: nil))
      try require(!again.snapshot.account.access.isTokenDiscarded, "the user would sign in again and again")
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: nil, discardsToken: true))
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let admitted = try await stores.first.complete(try Scenario.signIn(ada))
      try require(!admitted.snapshot.account.access.isTokenDiscarded, "a token did not clear it")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      try requireEqual(
        try await stores.second.find(first.snapshot.session.handle)?.account.access.isTokenDiscarded, false,
        "whether the other session still says so")
    },
    StoreContract("A token that is stored is neither deleted nor marked by a sign-in that discards another") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let same = try await stores.first.complete(try Scenario.signIn(ada, token: nil, discardsToken: true))
      try require(!same.snapshot.account.access.isTokenDiscarded, "the account was marked")
      try requireEqual(try await stores.second.tokens(of: ada).count, 1, "the number of tokens")
      let other = try await stores.first.complete(
        try Scenario.signIn(ada, clientID: Scenario.app, token: nil, discardsToken: true))
      try require(other.snapshot.account.access.isTokenDiscarded, "the account was not marked for another client")
    },
    StoreContract("Strangers are forgotten 30 days after their latest sign-in, a limited number at a time") { stores in
      for number in 0..<5 {
        _ = try await stores.first.complete(
          try Scenario.signIn(
            Scenario.subject("user\(number)"), token: nil, lifetime: Scenario.day, discardsToken: true))
      }
      var rule = Scenario.removal(after: .seconds(29 * 86_400))
      _ = try await stores.first.removeExpired(rule)
      try requireEqual(try await stores.second.counts().accounts, 5, "the number after 29 days")
      rule = Scenario.removal(after: .seconds(30 * 86_400), limit: 2)
      for left in [3, 1, 0] {
        _ = try await stores.first.removeExpired(rule)
        try requireEqual(try await stores.second.counts().accounts, left, "the number of accounts")
      }
    },
    StoreContract("An account that has a token, a session, a group, a request or a ban is not a stranger's") { stores in
      let end = Duration.seconds(40 * 86_400)
      let users = try ["token", "session", "group", "request", "ban", "late", "plain"].map { try Scenario.subject($0) }
      for (number, user) in users.enumerated() {
        if number == 0 { _ = try await stores.first.complete(try Scenario.signIn(user)) }
        _ = try await stores.first.complete(
          try Scenario.signIn(
            user, clientID: Scenario.app, at: number == 5 ? Scenario.later(.seconds(20 * 86_400)) : Scenario.noon,
            token: nil, lifetime: number == 1 ? .seconds(90 * 86_400) : Scenario.day, discardsToken: number != 6))
      }
      _ = try await stores.first.add(users[2], to: Scenario.group(), by: "cli", at: Scenario.noon)
      _ = try await stores.first.ask(users[3], code: .random(), at: Scenario.later(.seconds(30 * 86_400)))
      try await stores.first.ban(users[4], Scenario.ban())
      for _ in 0..<2 { _ = try await stores.first.removeExpired(Scenario.removal(after: end)) }
      for user in users { try require(try await stores.second.account(user) != nil, "\(user) was forgotten") }
      _ = try await stores.first.remove(users[2], from: Scenario.group(), at: Scenario.noon)
      _ = try await stores.first.unban(users[4], by: "cli", at: Scenario.noon)
      _ = try await stores.first.removeExpired(Scenario.removal(after: end))
      for user in [users[2], users[4]] {
        try requireEqual(try await stores.second.account(user), nil, "the account of a stranger")
      }
      try requireEqual(try await stores.second.counts().accounts, 5, "the number of accounts")
    },
    StoreContract("Accounts are listed with the number of their sessions and the time they were last seen") { stores in
      let (ada, bob, carl) = (try Scenario.subject(), try Scenario.subject("bob"), try Scenario.subject("carl"))
      var sessions: [Session] = []
      for second in 0..<3 {
        let signIn = try Scenario.signIn(ada, at: Scenario.later(.seconds(second)))
        sessions.append(try await stores.first.complete(signIn).snapshot.session)
      }
      let away = try await stores.first.complete(try Scenario.signIn(bob)).snapshot.session
      try await stores.first.end(.one(away.handle), because: .signedOut, at: Scenario.noon)
      try await stores.first.ban(carl, Scenario.ban())
      _ = try await stores.first.complete(try Scenario.signIn(carl))
      _ = try await stores.first.add(ada, to: Scenario.group(), by: "cli", at: Scenario.noon)
      let seen = Scenario.later(.seconds(600))
      try await stores.first.updateLastSeen([LastSeenUpdate(handle: sessions[1].handle, seen: seen)])
      var listed: [AccountSummary] = []
      while true {
        let page = try await stores.second.summaries(after: listed.last?.account.subject, limit: 2).records()
        if page.isEmpty { break }
        listed += page
      }
      try requireEqual(listed.map(\.account.subject), [ada, bob, carl], "the subjects")
      try requireEqual(listed.map(\.sessions), [3, 0, 1], "the numbers of sessions")
      try requireEqual(listed.map(\.lastSeen), [seen, Scenario.noon, Scenario.noon], "when they were last seen")
      try requireEqual(listed[0].account.access.groups, [try Scenario.group()], "the groups")
      try requireEqual(listed[2].account.access.ban, Scenario.ban(), "the ban")
    },
  ]
}
