import Sessions

extension StoreContract {
  static let schema = [
    StoreContract("A store is new to the process that has created it, and to no other") { stores in
      try requireEqual(stores.first.isNew, true, "new to the first")
      for store in [stores.second, try await stores.reopen()] { try requireEqual(store.isNew, false, "new to another") }
    },
    StoreContract("A newer schema that only adds is used as before, also after the store is opened again") { stores in
      let ada = try Scenario.subject()
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      try await stores.change(.newerVersion)
      for store in [stores.second, try await stores.reopen()] {
        try await store.ping()
        try require(try await store.find(session.handle) != nil, "the session is not found")
        _ = try await store.changes(since: nil, limit: 1)
        _ = try await store.complete(try Scenario.signIn(ada))
      }
      let outcome = try await stores.first.acquireLease(
        of: ada, preferring: Scenario.web, interval: Scenario.day, now: Scenario.later(Scenario.day))
      try require(outcome.granted != nil, "no lease can be acquired")
    },
    StoreContract("A store whose minimum reader this version does not know is not opened, with the remedy") { stores in
      try await stores.change(.minimumReader(99))
      do {
        _ = try await stores.reopen()
      } catch let error as StoreError {
        try requireEqual(error.code, .newerSchema, "the error")
        try require(error.message.contains("run the newer version"), "no remedy in \(error.message)")
        try requireEqual(error.fault, .operator, "the fault")
        try await stores.change(.minimumReader(1))
        _ = try await stores.reopen()
        return
      }
      throw ContractViolation(description: "it was opened")
    },
    StoreContract("An open store is used no longer once its minimum reader is raised, and again once it is lowered") {
      stores in
      let ada = try Scenario.subject()
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let cursor = try await stores.first.changes(since: nil, limit: 1).cursor
      try await stores.change(.minimumReader(99))
      // Either way of looking is enough.
      try await requireError(.newerSchema) { () throws(StoreError) in
        _ = try await stores.first.changes(since: cursor, limit: 1)
      }
      try await requireError(.newerSchema) { () throws(StoreError) in try await stores.second.ping() }
      let signIn = try Scenario.signIn(ada)
      for store in [stores.first, stores.second] {
        try await requireError(.newerSchema) { () throws(StoreError) in _ = try await store.find(session.handle) }
        try await requireError(.newerSchema) { () throws(StoreError) in _ = try await store.complete(signIn) }
        try await requireError(.newerSchema) { () throws(StoreError) in
          _ = try await store.consume(.attempt([1]), until: Scenario.noon)
        }
        try await requireError(.newerSchema) { () throws(StoreError) in
          _ = try await store.end(.all(of: ada), because: .signedOut, at: Scenario.noon)
        }
        try await requireError(.newerSchema) { () throws(StoreError) in
          _ = try await store.acquireLease(
            of: ada, preferring: Scenario.web, interval: Scenario.day, now: Scenario.later(Scenario.day))
        }
      }
      try await stores.change(.minimumReader(1))
      try await stores.first.ping()
      _ = try await stores.second.changes(since: nil, limit: 1)
      for store in [stores.first, stores.second] {
        try require(try await store.find(session.handle) != nil, "the session is gone")
        _ = try await store.complete(try Scenario.signIn(ada))
      }
    },
  ]
}
