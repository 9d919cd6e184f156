import FoundationEssentials
internal import Secrets
import Sessions

extension StoreContract {
  static let transfers = [
    StoreContract("The name for another team is noted, and stays over sign-ins") { stores in
      let ada = try Scenario.subject()
      let transfer = PreparedTransfer(subject: try Scenario.subject("transfer"), team: "NEWTEAM123")
      try require(
        try await stores.first.prepare(transfer, of: ada, at: Scenario.noon) == false, "a stranger was prepared")
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      for _ in 0..<2 {
        try require(try await stores.first.prepare(transfer, of: ada, at: Scenario.noon), "nobody was prepared")
      }
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      _ = try await stores.first.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(60))))
      try requireEqual(try await stores.reopen().account(ada)?.claims.preparedTransfer, transfer, "what was noted")
    },
    StoreContract("Everything known of a user moves to another subject, and nothing is left of the old") { stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      let web = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada"))).snapshot.session
      let app = try await stores.first.complete(
        try Scenario.signIn(ada, clientID: Scenario.app, token: "app")
      ).snapshot.session
      let bob = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob"))).snapshot.session
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      let move = try await move(ada, to: new, in: stores.first, email: "new@relay.example")
      try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of it")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada), .accountChanged(new)],
        "the changes")
      let reopened = try await stores.reopen()
      try requireEqual(try await reopened.account(ada), nil, "the old account")
      try requireEqual(try await reopened.tokens(of: ada), [], "the old tokens")
      let account = try requireValue(try await reopened.account(new), "moved account")
      try requireEqual(account.name, Scenario.name("Ada"), "the name")
      try requireEqual(account.claims.formerSubject, ada, "the former subject")
      try requireEqual(account.claims.email, "new@relay.example", "the address")
      try requireEqual(account.lastAsked, Scenario.noon, "when Apple was asked")
      for session in [web, app] {
        let found = try requireValue(try await reopened.find(session.handle), "session")
        try requireEqual(found.session.subject, new, "whose session it is")
        try requireEqual(found.account, account, "the session's account")
      }
      try requireEqual(try await reopened.find(bob.handle)?.session.subject.text, bob.subject.text, "another's session")
      try requireEqual(try openedTokens(try await reopened.tokens(of: new)), ["app", "refresh"], "the tokens")
      try requireEqual(
        try await stores.second.move(move, at: Scenario.noon), .unknownSubject, "what came of it, once more")
    },
    StoreContract("Who signed in under the new subject already keeps what is newer") { stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      let old = try await stores.first.complete(
        try Scenario.signIn(ada, name: Scenario.name("Ada"), token: "old")
      ).snapshot.session
      let later = Scenario.later(.seconds(600))
      let fresh = try await stores.first.complete(
        try Scenario.signIn(new, at: later, claims: Scenario.claims("fresh@example.com"), token: "fresh")
      ).snapshot.session
      try requireEqual(
        try await stores.second.move(
          try await move(ada, to: new, in: stores.second, email: "stale@example.com"), at: later), .moved,
        "what came of it")
      let account = try requireValue(try await stores.first.account(new), "account")
      try requireEqual(account.name, Scenario.name("Ada"), "the name")
      try requireEqual(account.claims.email, "fresh@example.com", "the address")
      try requireEqual(account.latestAuthorization, later, "the latest authorization")
      try requireEqual(try openedTokens(try await stores.first.tokens(of: new)), ["fresh"], "the tokens")
      for handle in [old.handle, fresh.handle] {
        try requireEqual(try await stores.first.find(handle)?.account, account, "a session's account")
      }
    },
    StoreContract("A move with tokens that were replaced meanwhile changes nothing") { stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let stale = try await move(ada, to: new, in: stores.first, email: nil)
      _ = try await stores.second.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(1)), token: "new"))
      try requireEqual(try await stores.first.move(stale, at: Scenario.noon), .tokensChanged, "what came of it")
      try require(try await stores.first.account(ada) != nil, "the account moved")
      try requireEqual(try await stores.first.account(new), nil, "the new account")
    },
    StoreContract("A user who keeps the subject is only written down") { stores in
      let ada = try Scenario.subject()
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let transfer = PreparedTransfer(subject: try Scenario.subject("transfer"), team: "NEWTEAM123")
      _ = try await stores.first.prepare(transfer, of: ada, at: Scenario.noon)
      let move = try await move(ada, to: ada, in: stores.first, email: nil)
      try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of it")
      let found = try requireValue(try await stores.second.find(session.handle), "session")
      try requireEqual(found.account.claims.preparedTransfer, nil, "what was noted for the other team")
      try requireEqual(try openedTokens(try await stores.second.tokens(of: ada)), ["refresh"], "the tokens")
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: ada, at: Scenario.noon), .nothing, "what it leads to")
    },
    StoreContract("A ban of a user without an account follows the user's transfer identifier, once, and no other") {
      stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      let (transfer, noon) = (try prepared(), Scenario.noon)
      try await stores.first.ban(ada, Scenario.ban())
      try requireEqual(
        try await named(in: stores.second), [NamedUser(subject: ada, prepared: nil)],
        "the users without an account")
      try require(try await stores.first.prepare(transfer, of: ada, at: noon), "nobody was prepared")
      try requireEqual(
        try await named(in: stores.second), [NamedUser(subject: ada, prepared: transfer)],
        "the users without an account, once prepared")
      try requireEqual(try await named(in: stores.second, after: ada), [], "the users after the last one")
      try requireEqual(
        try await stores.first.follow(try Scenario.subject("another"), to: new, at: noon), .nothing,
        "what another identifier leads to")
      try requireEqual(try await stores.first.ban(of: new), nil, "the ban before")
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: new, at: noon), .moved, "what the identifier leads to")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada), .accountChanged(new)],
        "the changes")
      let reopened = try await stores.reopen()
      try requireEqual(try await reopened.ban(of: new), Scenario.ban(), "the ban of the new subject")
      try requireEqual(try await reopened.ban(of: ada), nil, "the ban of the old subject")
      try requireEqual(
        try await reopened.follow(transfer.subject, to: new, at: noon), .nothing, "what it leads to afterwards")
      try requireEqual(try await reopened.unban(new, by: "cli", at: noon), .lifted, "the lifting")
      try requireEqual(
        try await reopened.follow(transfer.subject, to: new, at: noon), .nothing, "what it leads to after the lifting")
      try requireEqual(try await reopened.ban(of: new), nil, "the ban after the lifting")
    },
    StoreContract("A ban whose account was deleted after the preparation follows; one deleted before is counted") {
      stores in
      let (ada, bob, new) = (try Scenario.subject(), try Scenario.subject("bob"), try Scenario.subject("new"))
      let (transfer, noon) = (try prepared(), Scenario.noon)
      for user in [ada, bob] { _ = try await stores.first.complete(try Scenario.signIn(user)) }
      try await stores.first.ban(bob, Scenario.ban())
      try await stores.first.forget(bob, keeping: [], at: noon)
      try require(try await stores.first.prepare(transfer, of: ada, at: noon), "nobody was prepared")
      // As an older gateway would, which knows nothing of transfer identifiers.
      try await stores.second.ban(ada, Scenario.ban())
      try await stores.second.forget(ada, keeping: [], at: noon)
      try requireEqual(
        try await named(in: stores.first),
        [NamedUser(subject: transfer.subject, prepared: transfer, isDeleted: true)], "the users without an account")
      try requireEqual(
        try await named(in: stores.first, after: transfer.subject), [], "the users after the last one")
      try requireEqual(
        try await stores.first.unpreparedBanCount(forTeam: transfer.team, at: noon), 1, "the bans that cannot follow")
      try requireEqual(
        try await stores.first.unpreparedBanCount(forTeam: "OTHERTEAM1", at: noon), 2,
        "the bans that cannot follow to a team that nobody was prepared for")
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: new, at: noon), .moved, "what the identifier leads to")
      let account = try await stores.second.complete(try Scenario.signIn(new)).snapshot.account
      try requireEqual(account.access.ban, Scenario.ban(), "the ban of the new account")
      try requireEqual(
        try await named(in: stores.first), [], "the users without an account afterwards")
    },
    StoreContract("Memberships without an account follow the user's transfer identifier") { stores in
      let (ada, new, staff) = (try Scenario.subject(), try Scenario.subject("new"), try Scenario.group())
      let (transfer, noon) = (try prepared(), Scenario.noon)
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await stores.first.add(ada, to: staff, by: "cli", at: noon)
      try require(try await stores.first.prepare(transfer, of: ada, at: noon), "nobody was prepared")
      try await stores.second.forget(ada, keeping: [staff], at: noon)
      try requireEqual(
        try await named(in: stores.first), [NamedUser(subject: ada, prepared: transfer)],
        "the users without an account")
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: new, at: noon), .moved, "what the identifier leads to")
      try requireEqual(try await stores.second.groups(of: new), [staff], "the groups of the new subject")
      try requireEqual(try await stores.second.groups(of: ada), [], "the groups of the old subject")
    },
    StoreContract("Users without an account are listed between two subjects, of bans and groups alike, each once") {
      stores in
      let (staff, noon) = (try Scenario.group(), Scenario.noon)
      let users = try ["a", "b", "c", "d"].map { try Scenario.subject($0) }
      for user in users { _ = try await stores.first.add(user, to: staff, by: "cli", at: noon) }
      for user in users.suffix(2) { try await stores.first.ban(user, Scenario.ban()) }
      _ = try await stores.first.complete(try Scenario.signIn(users[1]))
      let listed = [users[0], users[2], users[3]].map { NamedUser(subject: $0, prepared: nil) }
      try requireEqual(try await named(in: stores.second), listed, "all")
      try requireEqual(try await named(in: stores.second, limit: 2), Array(listed.prefix(2)), "the first two")
      try requireEqual(
        try await named(in: stores.second, after: users[0], through: users[2]), [listed[1]], "those in between")
      let transfer = try prepared()
      try require(try await stores.first.prepare(transfer, of: users[3], at: noon), "nobody was prepared")
      _ = try await stores.first.remove(users[3], from: staff, at: noon)
      try await stores.first.forget(users[3], keeping: [], at: noon)
      try requireEqual(
        try await named(in: stores.second, after: users[2], through: users[3]), [], "those before the identifier")
      try requireEqual(
        try await named(in: stores.second, after: users[2], through: transfer.subject).map(\.isDeleted), [true],
        "those up to the identifier")
    },
    StoreContract("A user with an account is left to the move, and a ban that names the old subject later follows") {
      stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      let (transfer, noon) = (try prepared(), Scenario.noon)
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try require(try await stores.first.prepare(transfer, of: ada, at: noon), "nobody was prepared")
      try await stores.first.ban(ada, Scenario.ban())
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try requireEqual(
        try await stores.second.follow(transfer.subject, to: new, at: noon), .account(ada), "what it leads to")
      try requireEqual(try await stores.second.changes(since: start, limit: 10).changes, [], "the changes")
      try requireEqual(try await stores.second.ban(of: ada), Scenario.ban(), "the ban that was not moved")
      let move = try await move(ada, to: new, in: stores.first, email: nil)
      try requireEqual(try await stores.first.move(move, at: noon), .moved, "what came of the move")
      try requireEqual(
        try await stores.second.follow(transfer.subject, to: new, at: noon), .nothing, "what it leads to afterwards")
      try requireEqual(try await stores.second.unban(new, by: "cli", at: noon), .lifted, "the lifting")
      try await stores.first.ban(ada, Scenario.ban())
      try requireEqual(
        try await stores.second.follow(transfer.subject, to: new, at: noon), .moved, "what it leads to after a ban")
      try requireEqual(try await stores.first.account(new)?.access.ban, Scenario.ban(), "the ban of the account")
    },
    StoreContract("The transfer identifiers of a user who has moved twice are forgotten with the account") { stores in
      let subjects = try ["a", "b", "c"].map { try Scenario.subject($0) }
      _ = try await stores.first.complete(try Scenario.signIn(subjects[0]))
      let transfers = try await moved(through: subjects, in: stores.first)
      try await stores.first.forget(subjects[2], keeping: [], at: Scenario.noon)
      for (subject, transfer) in zip(subjects, transfers) {
        try await stores.first.ban(subject, Scenario.ban())
        try requireEqual(
          try await stores.second.follow(transfer.subject, to: try Scenario.subject("new"), at: Scenario.noon),
          .nothing, "what the identifier leads to")
      }
      try requireEqual(try await stores.second.ban(of: subjects[2]), nil, "the ban of the latest subject")
    },
    StoreContract("Of two bans the longer one stays where one follows a transfer identifier") { stores in
      let short = Scenario.ban(until: Scenario.later(Scenario.day))
      for (number, bans) in [(short, Scenario.ban()), (Scenario.ban(), short)].enumerated() {
        let (old, new) = (try Scenario.subject("old\(number)"), try Scenario.subject("new\(number)"))
        let transfer = try prepared("transfer\(number)")
        try await stores.first.ban(old, bans.0)
        try await stores.first.ban(new, bans.1)
        try require(try await stores.first.prepare(transfer, of: old, at: Scenario.noon), "nobody was prepared")
        try requireEqual(
          try await stores.second.follow(transfer.subject, to: new, at: Scenario.noon), .moved, "what it leads to")
        try requireEqual(try await stores.first.ban(of: new), Scenario.ban(), "the ban")
      }
    },
    StoreContract("The transfer identifier of a user who is forgotten, and not refused, is forgotten too") { stores in
      let (ada, new, transfer) = (try Scenario.subject(), try Scenario.subject("new"), try prepared())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      try require(try await stores.first.prepare(transfer, of: ada, at: Scenario.noon), "nobody was prepared")
      try await stores.first.forget(ada, keeping: [], at: Scenario.noon)
      try await stores.first.ban(ada, Scenario.ban())
      try requireEqual(
        try await named(in: stores.second), [NamedUser(subject: ada, prepared: nil)],
        "the users without an account")
      try requireEqual(
        try await stores.second.follow(transfer.subject, to: new, at: Scenario.noon), .nothing, "what it leads to")
    },
    StoreContract("The subject of a transfer identifier goes with what last refused a user without an account") {
      stores in
      let (ada, bob, new) = (try Scenario.subject(), try Scenario.subject("bob"), try Scenario.subject("new"))
      let (staff, noon) = (try Scenario.group(), Scenario.noon)
      let transfers = (try prepared("transfer.ada"), try prepared("transfer.bob"))
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await stores.first.add(ada, to: staff, by: "cli", at: noon)
      try await stores.first.ban(bob, Scenario.ban())
      try require(try await stores.first.prepare(transfers.0, of: ada, at: noon), "ada was not prepared")
      try require(try await stores.first.prepare(transfers.1, of: bob, at: noon), "bob was not prepared")
      try await stores.first.forget(ada, keeping: [staff], at: noon)
      try require(try await stores.first.remove(ada, from: staff, at: noon), "ada was no member")
      try requireEqual(try await stores.first.unban(bob, by: "cli", at: noon), .lifted, "the lifting")
      // With a subject the store would move what that has.
      for transfer in [transfers.0, transfers.1] {
        try requireEqual(
          try await stores.second.follow(transfer.subject, to: new, at: noon), .nothing, "what it leads to")
      }
    },
    StoreContract("The subject of a transfer identifier goes with the ban of a user without an account that expired") {
      stores in
      let (ada, new, staff) = (try Scenario.subject(), try Scenario.subject("new"), try Scenario.group())
      let (bob, noon) = (try Scenario.subject("bob"), Scenario.noon)
      let transfers = (try prepared("transfer.ada"), try prepared("transfer.bob"))
      for (user, transfer) in [(ada, transfers.0), (bob, transfers.1)] {
        try await stores.first.ban(user, Scenario.ban(until: Scenario.later(Scenario.day)))
        try require(try await stores.first.prepare(transfer, of: user, at: noon), "nobody was prepared")
      }
      _ = try await stores.first.add(bob, to: staff, by: "cli", at: noon)
      // With the changes that told of them.
      let removal = try await stores.first.removeExpired(Scenario.removal(after: .seconds(31 * 86_400)))
      try require(removal.rows >= 2, "the bans were not removed")
      // With a subject the store would move what that has, as the membership.
      try requireEqual(
        try await stores.second.follow(transfers.0.subject, to: new, at: noon), .nothing, "what ada's leads to")
      try requireEqual(
        try await stores.second.follow(transfers.1.subject, to: new, at: noon), .moved, "what bob's leads to")
      try requireEqual(try await stores.second.groups(of: new), [staff], "the groups of the new subject")
    },
    StoreContract("The transfer identifier of a user who has moved is forgotten with the account, unless banned") {
      stores in
      let noon = Scenario.noon
      for isBanned in [false, true] {
        let name = isBanned ? "banned" : "free"
        let (old, new) = (try Scenario.subject("old.\(name)"), try Scenario.subject("new.\(name)"))
        let transfer = try prepared("transfer.\(name)")
        _ = try await stores.first.complete(try Scenario.signIn(old))
        try require(try await stores.first.prepare(transfer, of: old, at: noon), "nobody was prepared")
        let move = try await move(old, to: new, in: stores.first, email: nil)
        try requireEqual(try await stores.first.move(move, at: noon), .moved, "what came of the move")
        if isBanned { try await stores.first.ban(new, Scenario.ban()) }
        try await stores.first.forget(new, keeping: [], at: noon)
        if isBanned {
          try requireEqual(try await stores.second.unban(old, by: "cli", at: noon), .lifted, "the lifting")
        }
        try await stores.first.ban(old, Scenario.ban())
        try requireEqual(
          try await stores.second.follow(transfer.subject, to: new, at: noon), isBanned ? .moved : .nothing,
          "what the identifier leads to")
      }
    },
    StoreContract("A transfer identifier replaces that for another team, and is removed after 180 days") { stores in
      let (ada, new) = (try Scenario.subject(), try Scenario.subject("new"))
      let (wrong, right) = (try prepared("wrong", team: "OTHERTEAM1"), try prepared())
      try await stores.first.ban(ada, Scenario.ban())
      for transfer in [wrong, right] {
        try require(try await stores.first.prepare(transfer, of: ada, at: Scenario.noon), "nobody was prepared")
      }
      try requireEqual(
        try await stores.second.follow(wrong.subject, to: new, at: Scenario.noon), .nothing, "what the first leads to")
      _ = try await stores.first.removeExpired(Scenario.removal(after: .seconds(180 * 86_400 - 1)))
      try requireEqual(
        try await named(in: stores.second), [NamedUser(subject: ada, prepared: right)],
        "the users without an account")
      try requireEqual(
        try await stores.first.removeExpired(Scenario.removal(after: .seconds(180 * 86_400))).rows, 1,
        "what is removed")
      try requireEqual(
        try await named(in: stores.second), [NamedUser(subject: ada, prepared: nil)],
        "the users without an account afterwards")
      try requireEqual(try await stores.second.ban(of: ada), Scenario.ban(), "the ban")
    },
  ]

  /// The users without an account whom bans and memberships name.
  private static func named(
    in store: any SessionStore, after subject: Subject? = nil, through last: Subject? = nil, limit: Int = 10
  ) async throws -> [NamedUser] {
    try await store.namedUsers(after: subject, through: last, limit: limit)
  }

  /// Moves the account of the first subject to the others, one after another.
  /// - Returns: the transfer identifiers.
  static func moved(
    through subjects: [Subject], in store: any SessionStore
  ) async throws -> [PreparedTransfer] {
    var transfers: [PreparedTransfer] = []
    for (number, (old, new)) in zip(subjects, subjects.dropFirst()).enumerated() {
      let transfer = PreparedTransfer(
        subject: try Scenario.subject("transfer\(number).\(subjects[0].text)"), team: "NEWTEAM123")
      try require(try await store.prepare(transfer, of: old, at: Scenario.noon), "nobody was prepared")
      let move = try await move(old, to: new, in: store, email: nil)
      try requireEqual(try await store.move(move, at: Scenario.noon), .moved, "what came of the move")
      transfers.append(transfer)
    }
    return transfers
  }

  /// A transfer identifier.
  static func prepared(_ name: String = "transfer", team: String = "NEWTEAM123") throws -> PreparedTransfer {
    PreparedTransfer(subject: try Scenario.subject(name), team: team)
  }

  static func move(
    _ old: Subject, to new: Subject, in store: any SessionStore, email: String?
  ) async throws -> AccountMove {
    let keyring = try Scenario.keyring()
    let tokens = try await store.tokens(of: old).map { stored in
      let text = try keyring.open(stored.token, of: old, clientID: stored.clientID)
      return (old: stored, resealed: try keyring.seal(text, of: new, clientID: stored.clientID))
    }
    return AccountMove(old: old, new: new, email: email, isPrivateEmail: true, tokens: tokens)
  }

  private static func openedTokens(_ tokens: [StoredToken]) throws -> [String] {
    let keyring = try Scenario.keyring()
    return try tokens.map { try keyring.open($0.token, of: $0.subject, clientID: $0.clientID).exposed }
  }
}
