internal import Secrets
import Sessions

extension StoreContract {
  static let accounts = [
    StoreContract("Accounts are found by address, whatever the case of its letters, and only whole ones") { stores in
      let ada = try Scenario.subject()
      let bob = try Scenario.subject("bob")
      _ = try await stores.first.complete(try Scenario.signIn(ada, claims: Scenario.claims("Ada@Example.com")))
      _ = try await stores.first.complete(try Scenario.signIn(bob, claims: Scenario.claims("bob@example.com")))
      _ = try await stores.first.complete(
        try Scenario.signIn(Scenario.subject("nobody"), claims: Scenario.claims(nil)))
      let found = try await stores.second.accounts(withEmail: "aDA@example.COM").records()
      try requireEqual(found.map(\.subject), [ada], "who was found")
      for email in ["%@example.com", "ada", "", "ada@example.com'--"] {
        try requireEqual(try await stores.second.accounts(withEmail: email).records(), [], "who was found by \(email)")
      }
    },
    StoreContract("Accounts are listed page by page") { stores in
      let subjects = try ["a", "b", "c", "d", "e"].map { try Scenario.subject($0) }
      for subject in subjects.reversed() { _ = try await stores.first.complete(try Scenario.signIn(subject)) }
      var listed: [Subject] = []
      while true {
        let page = try await stores.second.accounts(after: listed.last, limit: 2).records()
        try require(page.count <= 2, "a page is longer than the limit")
        if page.isEmpty { break }
        listed += page.map(\.subject)
      }
      try requireEqual(listed, subjects, "the list")
    },
    StoreContract("A forgotten user leaves nothing behind, and others stay") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada, name: Scenario.name("Ada"))).snapshot
        .session.handle
      let other = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob")))
      try await stores.first.savePendingName(Scenario.name("Augusta"), submittedBy: ada, at: Scenario.noon)
      let ended = try await stores.second.forget(ada, keeping: [], at: Scenario.noon)
      try requireEqual(ended, [handle], "what ended")
      try requireEqual(try await stores.first.account(ada), nil, "the account")
      try requireEqual(try await stores.first.find(handle), nil, "the session")
      try requireEqual(
        try await stores.first.counts(), StoreCounts(accounts: 1, sessions: 1, refreshTokens: 1), "the counts")
      try require(try await stores.first.find(other.snapshot.session.handle) != nil, "another user's session ended")
      let again = try await stores.first.complete(try Scenario.signIn(ada))
      try require(again.isNewAccount, "the account was still known")
      try requireEqual(again.snapshot.account.name, nil, "the name")
    },
    StoreContract("Accounts, sessions and tokens are counted") { stores in
      let ada = try Scenario.subject()
      try requireEqual(
        try await stores.first.counts(), StoreCounts(accounts: 0, sessions: 0, refreshTokens: 0), "the counts at first")
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app))
      try requireEqual(
        try await stores.second.counts(), StoreCounts(accounts: 1, sessions: 3, refreshTokens: 2), "the counts")
    },
    StoreContract("Whatever text a user brings is kept as it is") { stores in
      let ada = try Scenario.subject("o'brien\";--")
      var claims = Scenario.claims("\u{E9}\u{0301}'%_\\@example.com")
      claims.scopes = ["edu.users.read", "edu.classes.read"]
      claims.realUserStatus = 2
      claims.transferSubject = "001.next"
      claims.other = ["text": .text("\u{0}\u{1F469}\u{200D}\u{1F680}"), "half": .decimal(0.5), "no": .truth(false)]
      let signIn = try Scenario.signIn(
        ada, clientID: "com.example.\u{FC}", name: Scenario.name("Zo\u{EB} \u{1F469}\u{200D}\u{1F680}"), claims: claims)
      let completed = try await stores.first.complete(signIn)
      try requireEqual(completed.snapshot.account.claims, claims, "the claims")
      try requireEqual(
        try await stores.reopen().find(signIn.session.handle), completed.snapshot, "what is found after a restart")
    },
  ]

  static let tokens = [
    StoreContract("A user's tokens are returned, one for each client, and nobody else's") { stores in
      let ada = try Scenario.subject()
      try requireEqual(try await stores.first.tokens(of: ada), [], "the tokens of a stranger")
      let web = try Scenario.signIn(ada, token: "web")
      let app = try Scenario.signIn(ada, clientID: Scenario.app, token: "app")
      for signIn in [web, app, try Scenario.signIn(Scenario.subject("bob"), token: "bob")] {
        _ = try await stores.first.complete(signIn)
      }
      let expected = [
        StoredToken(
          subject: ada, clientID: Scenario.app, token: try requireValue(app.token, "token of the app's sign-in")),
        StoredToken(
          subject: ada, clientID: Scenario.web, token: try requireValue(web.token, "token of the web's sign-in")),
      ]
      try requireEqual(try await stores.second.tokens(of: ada), expected, "the tokens")
      _ = try await stores.first.forget(ada, keeping: [], at: Scenario.noon)
      try requireEqual(try await stores.second.tokens(of: ada), [], "the tokens of a forgotten user")
    },
    StoreContract("The keys that sealed tokens are counted, and tokens can be moved to another key") { stores in
      let ada = try Scenario.subject()
      let old = try Scenario.keyring("o")
      let both = try Scenario.keyring("n", older: "o")
      for name in ["ada", "bob", "eve"] {
        _ = try await stores.first.complete(try Scenario.signIn(Scenario.subject(name), token: name, by: old))
      }
      _ = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app, token: "app", by: both))
      try requireEqual(
        try await stores.second.sealingKeys(), [old.currentKey: 3, both.currentKey: 1], "the keys before")
      try requireEqual(
        try await stores.second.storedTokens(notSealedBy: both.currentKey, limit: 2).count, 2, "a limited batch")
      let moved = try await TokenReencryption.run(store: stores.second, keyring: both)
      try requireEqual(moved.moved, 3, "how many moved")
      try requireEqual(try await stores.first.sealingKeys(), [both.currentKey: 4], "the keys after")
      let token = try await acquiredLease(ada, at: Scenario.later(Scenario.day), in: stores.first).token
      try requireEqual(
        try both.open(token, of: ada, clientID: Scenario.web), RefreshToken("ada"), "the moved token")
    },
    StoreContract("A token that was replaced meanwhile is not overwritten by its resealed predecessor") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, token: "old"))
      let other = try Scenario.keyring("n")
      let stored = try requireValue(
        try await stores.first.storedTokens(notSealedBy: other.currentKey, limit: 10).first, "stored token")
      let fresh = try Scenario.signIn(ada, token: "new")
      _ = try await stores.second.complete(fresh)
      // Beside one that was not.
      _ = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app, token: "app"))
      let app = try requireValue(
        try await stores.first.tokens(of: ada).first { $0.clientID == Scenario.app }, "the app's token")
      let resealed = try Scenario.token("app", of: ada, clientID: Scenario.app, by: other)
      let replaced = try await stores.first.replace([
        ReencryptedToken(stored, as: try Scenario.token("old", of: ada, by: other)),
        ReencryptedToken(app, as: resealed),
      ])
      try requireEqual(replaced, 1, "how many were put in the place of others")
      try requireEqual(try await stores.second.replace([]), 0, "how many of none")
      let left = try await stores.first.storedTokens(notSealedBy: other.currentKey, limit: 10).map(\.token)
      try requireEqual(left, [fresh.token].compactMap(\.self), "the tokens")
    },
    StoreContract("A token that is damaged stops re-encryption, or is forgotten with its user's sessions alone") {
      stores in
      let (ada, bob) = (try Scenario.subject("ada"), try Scenario.subject("bob"))
      let (old, both) = (try Scenario.keyring("o"), try Scenario.keyring("n", older: "o"))
      let signIn = try Scenario.signIn(ada, by: old)
      let damaged = EncryptedToken(stored: [0xFF, 0, 1])
      _ = try await stores.first.complete(
        SignIn(
          session: signIn.session, name: nil, claims: signIn.claims, token: damaged, replacing: nil,
          appleAuthorized: nil))
      _ = try await stores.first.complete(try Scenario.signIn(bob, token: "kept", by: old))
      try requireEqual(try await stores.second.tokens(of: ada).map(\.token), [damaged], "the token")
      var failure: TokenReencryption.Failure?
      do throws(TokenReencryption.Failure) {
        try await TokenReencryption.run(store: stores.second, keyring: both, now: Scenario.noon)
      } catch {
        failure = error
      }
      let message = try requireValue(failure, "failure").description
      try require(message.contains("cannot be decrypted: it is damaged"), "the message is \(message)")
      let done = try await TokenReencryption.run(
        store: stores.second, keyring: both, unreadable: .forget, now: Scenario.noon)
      try requireEqual(done.forgotten, 1, "how many were forgotten")
      try requireEqual(try await stores.first.tokens(of: bob).map(\.token.key), [both.currentKey], "the other's key")
      try requireEqual(try await stores.first.counts().sessions, 1, "the other's session")
    },
    StoreContract("Tokens whose key is lost are forgotten with the sessions, and accounts and names stay") { stores in
      let (ada, bob) = (try Scenario.subject("ada"), try Scenario.subject("bob"))
      let (lost, kept) = (try Scenario.keyring("l"), try Scenario.keyring("k"))
      let adas = try await stores.first.complete(try Scenario.signIn(ada, token: "lost", by: lost)).snapshot
      let bobs = try await stores.first.complete(try Scenario.signIn(bob, token: "kept", by: kept)).snapshot
      let stale = try requireValue(try await stores.first.tokens(of: ada).first, "stored token")
      let done = try await TokenReencryption.run(
        store: stores.second, keyring: kept, unreadable: .forget, now: Scenario.noon)
      try requireEqual(done.forgotten, 1, "how many were forgotten")
      try requireEqual(done.moved, 0, "how many were moved")
      try requireEqual(try await stores.first.sealingKeys(), [kept.currentKey: 1], "the keys")
      try requireEqual(try await stores.first.find(adas.session.handle), nil, "the session of the forgotten token")
      try requireEqual(try await stores.first.find(bobs.session.handle), bobs, "the session of the other")
      try requireEqual(try await stores.first.delete([stale]), 0, "how many that are gone already")
      let ended = try await TokenReencryption.endEverySession(in: stores.second, now: Scenario.noon)
      try requireEqual(ended, 1, "how many sessions ended")
      try requireEqual(try await stores.first.find(bobs.session.handle), nil, "every session")
      try requireEqual(try await stores.first.account(ada), adas.account, "the account")
      try requireEqual(try await stores.first.account(bob), bobs.account, "the other account")
    },
  ]
}
