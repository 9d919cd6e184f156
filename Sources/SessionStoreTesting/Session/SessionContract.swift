import Sessions

extension StoreContract {
  static let sessions = [
    StoreContract("A session that nobody began is not found") { stores in
      try requireEqual(try await stores.first.find(SessionIdentifier.random().handle), nil, "the session")
    },
    StoreContract("An ended session is gone everywhere and after a restart; it may be ended again") { stores in
      let ada = try Scenario.subject()
      let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let kept = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let ended = try await stores.first.end(.one(handle), because: .signedOut, at: Scenario.noon)
      try requireEqual(ended, [handle], "what ended")
      try requireEqual(try await stores.second.find(handle), nil, "the session on the other replica")
      let reopened = try await stores.reopen()
      try requireEqual(try await reopened.find(handle), nil, "the session after a restart")
      try require(try await reopened.find(kept) != nil, "another session ended too")
      let again = try await stores.second.end(.one(handle), because: .signedOut, at: Scenario.noon)
      try requireEqual(again, [], "what ended the second time")
    },
    StoreContract("All sessions of a user end at once, and nobody else's") { stores in
      let ada = try Scenario.subject()
      var mine: Set<PublicSessionID> = []
      for clientID in [Scenario.web, Scenario.app, Scenario.web] {
        mine.insert(
          try await stores.first.complete(try Scenario.signIn(ada, clientID: clientID)).snapshot.session.handle)
      }
      let other = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob")))
      let ended = try await stores.second.end(.all(of: ada), because: .byOperator, at: Scenario.noon)
      try requireEqual(Set(ended), mine, "what ended")
      try requireEqual(try await stores.first.sessions(of: ada).records(), [], "what is left")
      try require(try await stores.first.find(other.snapshot.session.handle) != nil, "another user's session ended")
      try require(try await stores.first.account(ada) != nil, "the account ended")
    },
    StoreContract("All sessions of a user but one end at once, and nobody else's") { stores in
      let ada = try Scenario.subject()
      let kept = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let ended = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let other = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob")))
      let selection = SessionSelection.others(of: ada, except: kept)
      try requireEqual(
        try await stores.second.end(selection, because: .signedOut, at: Scenario.noon), [ended], "what ended")
      try requireEqual(try await stores.first.sessions(of: ada).records().map(\.handle), [kept], "what is left")
      try require(try await stores.first.find(other.snapshot.session.handle) != nil, "another user's session ended")
      // The session of somebody else is not an exception to keep.
      let foreign = SessionSelection.others(of: ada, except: other.snapshot.session.handle)
      try requireEqual(
        try await stores.first.end(foreign, because: .signedOut, at: Scenario.noon), [kept], "what ended")
    },
    StoreContract("Only sessions that rest on one client's token end with it") { stores in
      let ada = try Scenario.subject()
      let web = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
      let app = try await stores.first.complete(try Scenario.signIn(ada, clientID: Scenario.app)).snapshot
        .session.handle
      let ended = try await stores.first.end(
        .resting(onTokenOf: ada, clientID: Scenario.app), because: .revoked, at: Scenario.noon)
      try requireEqual(ended, [app], "what ended")
      try require(try await stores.first.find(web) != nil, "the other client's session ended")
    },
    StoreContract("Sightings move lastSeen on, never back, and nothing else") { stores in
      let ada = try Scenario.subject()
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let seen = Scenario.later(.seconds(600))
      try await stores.first.updateLastSeen([
        LastSeenUpdate(handle: session.handle, seen: seen),
        LastSeenUpdate(handle: SessionIdentifier.random().handle, seen: seen),
      ])
      try await stores.second.updateLastSeen([
        LastSeenUpdate(handle: session.handle, seen: Scenario.later(.seconds(300)))
      ])
      try await stores.second.updateLastSeen([])
      var expected = session
      expected.lastSeen = seen
      try requireEqual(try await stores.second.find(session.handle)?.session, expected, "the session")
      try requireEqual(try await stores.first.counts().sessions, 1, "the number of sessions")
    },
    StoreContract("Sightings of more sessions than one transaction takes are all written") { stores in
      let ada = try Scenario.subject()
      let first = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let last = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let seen = Scenario.later(.seconds(600))
      let strangers = (0..<1_200).map { _ in LastSeenUpdate(handle: SessionIdentifier.random().handle, seen: seen) }
      let ours = [first, last].map { LastSeenUpdate(handle: $0.handle, seen: seen) }
      try await stores.first.updateLastSeen([ours[0]] + strangers + [ours[1]])
      for session in [first, last] {
        try requireEqual(try await stores.second.find(session.handle)?.session.lastSeen, seen, "lastSeen")
      }
    },
    StoreContract("An ended session never comes back by a last-seen update or by a late answer") { stores in
      let ada = try Scenario.subject()
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let later = Scenario.later(Scenario.day)
      let lease = try await acquiredLease(ada, at: later, in: stores.first)
      try await stores.second.end(.one(session.handle), because: .signedOut, at: later)
      try await stores.first.updateLastSeen([LastSeenUpdate(handle: session.handle, seen: later)])
      _ = try await stores.first.record(.good(claims: Scenario.claims(), token: nil), of: lease, at: later)
      try requireEqual(try await stores.first.find(session.handle), nil, "the ended session")
      try requireEqual(try await stores.first.sessions(of: ada).records(), [], "the user's sessions")
    },
    StoreContract("A session that ends while it is being touched and looked up stays ended") { stores in
      let ada = try Scenario.subject()
      for _ in 0..<10 {
        let handle = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session.handle
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<20 {
            let store = number.isMultiple(of: 2) ? stores.first : stores.second
            group.addTask {
              try await store.updateLastSeen([LastSeenUpdate(handle: handle, seen: Scenario.later(.seconds(number)))])
            }
            group.addTask { _ = try await store.find(handle) }
          }
          group.addTask { try await stores.second.end(.one(handle), because: .signedOut, at: Scenario.noon) }
          try await group.waitForAll()
        }
        try requireEqual(try await stores.first.find(handle), nil, "the session")
      }
    },
    StoreContract("A user's sessions are listed, newest first") { stores in
      let ada = try Scenario.subject()
      var expected: [Session] = []
      for hour in 0..<3 {
        let signIn = try Scenario.signIn(ada, at: Scenario.later(.seconds(3_600 * hour)))
        expected.insert(try await stores.first.complete(signIn).snapshot.session, at: 0)
      }
      _ = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob")))
      try requireEqual(try await stores.second.sessions(of: ada).records(), expected, "the list")
    },
    StoreContract("A user's sessions are listed part by part, also those of one moment, while some end") { stores in
      let ada = try Scenario.subject()
      for number in 0..<7 {
        let signIn = try Scenario.signIn(ada, at: Scenario.later(.seconds(3_600 * (number / 3))))
        _ = try await stores.first.complete(signIn)
      }
      _ = try await stores.first.complete(try Scenario.signIn(Scenario.subject("bob")))
      let expected = try await stores.first.sessions(of: ada).records()
      try requireEqual(expected.count, 7, "the number of sessions")
      var listed: [Session] = []
      var place: SessionPlace? = SessionPlace.start
      while let after = place {
        let page = try await stores.second.sessions(of: ada, after: after, limit: 2)
        listed += page.sessions.records()
        place = page.next
        // As a command hands it on.
        if let next = place { try requireEqual(SessionPlace(text: next.text), next, "the place from its text") }
        // The place stays where the session was.
        if let last = listed.last, listed.count < 5 {
          try await stores.first.end(.one(last.handle), because: .signedOut, at: Scenario.noon)
        }
      }
      try requireEqual(listed, expected, "the parts together")
      try requireEqual(
        try await stores.second.sessions(of: ada, after: .start, limit: 100).next, nil, "the place after the last part")
    },
  ]
}
