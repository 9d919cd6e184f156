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
    },
  ]

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
