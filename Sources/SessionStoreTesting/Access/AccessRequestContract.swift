import FoundationEssentials
import Sessions

extension StoreContract {
  static let accessRequests = [
    StoreContract("A user who asks twice has one request, with one code, for every replica and after a restart") {
      stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let request = AccessRequest(code: .random(), subject: ada, asked: Scenario.noon)
      try requireEqual(
        try await stores.first.ask(ada, code: request.code, at: Scenario.noon), .waits(request), "the outcome")
      let later = Scenario.later(.seconds(60))
      try requireEqual(
        try await stores.second.ask(ada, code: .random(), at: later), .waits(request), "the outcome of asking again")
      for store in [stores.second, try await stores.reopen()] {
        try requireEqual(try await store.request(request.code, at: later), request, "the request of the code")
        try requireEqual(try await store.request(of: ada, at: later), request, "the request of the user")
        try requireEqual(try await store.requestCount(at: later), 1, "the number of requests")
      }
      try requireEqual(try await stores.second.request(.random(), at: later), nil, "the request of another code")
    },
    StoreContract("Of 20 calls at once of one user all have the same code") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let outcomes = try await stores.concurrently(20) { store, _ in
        try await store.ask(ada, code: .random(), at: Scenario.noon)
      }
      let request = try requireValue(try await stores.first.request(of: ada, at: Scenario.noon), "request")
      for outcome in outcomes { try requireEqual(outcome, .waits(request), "an outcome") }
      try requireEqual(try await stores.second.counts().accessRequests, 1, "the number of requests")
    },
    StoreContract("A user who is unknown cannot ask") { stores in
      let ada = try Scenario.subject()
      try await requireError(.conflict) { () throws(StoreError) in
        _ = try await stores.first.ask(ada, code: .random(), at: Scenario.noon)
      }
      try requireEqual(try await stores.first.requestCount(at: Scenario.noon), 0, "the number of requests")
    },
    StoreContract("A code that another user has already is not given out again") { stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      for subject in [ada, bob] { _ = try await stores.first.complete(try Scenario.signIn(subject)) }
      let code = AccessRequestCode.random()
      for subject in [ada, bob] { _ = try await stores.first.ask(subject, code: code, at: Scenario.noon) }
      try requireEqual(try await stores.second.request(code, at: Scenario.noon)?.subject, ada, "whose code it is")
      let other = try requireValue(try await stores.second.request(of: bob, at: Scenario.noon), "other request")
      try require(other.code != code, "both have one code")
    },
    StoreContract("A banned user cannot ask while the ban holds, and what was asked before is gone") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await stores.first.ask(ada, code: .random(), at: Scenario.noon)
      try await stores.second.ban(ada, Scenario.ban(until: Scenario.later(Scenario.day)))
      try requireEqual(try await stores.first.request(of: ada, at: Scenario.noon), nil, "the request")
      try requireEqual(
        try await stores.first.ask(ada, code: .random(), at: Scenario.noon), .banned, "the outcome while banned")
      let request = AccessRequest(code: .random(), subject: ada, asked: Scenario.later(Scenario.day))
      try requireEqual(
        try await stores.first.ask(ada, code: request.code, at: request.asked), .waits(request), "the outcome after it")
    },
    StoreContract("There are at most 10,000 open requests, however many users ask at once; expired ones do not count") {
      stores in
      let users = try (0..<20).map { try Scenario.subject("user\($0)") }
      for user in users { _ = try await stores.first.complete(try Scenario.signIn(user)) }
      try await stores.fill(AccessRequest.mostOpen - 5, Scenario.noon)
      let outcomes = try await stores.concurrently(20) { store, number in
        try await store.ask(users[number], code: .random(), at: Scenario.later(.seconds(60)))
      }
      try requireEqual(outcomes.count { $0 == .tooMany }, 15, "the number of those refused")
      try requireEqual(
        try await stores.second.requestCount(at: Scenario.later(.seconds(60))), AccessRequest.mostOpen, "the number")
      let later = Scenario.later(AccessRequest.lifetime)
      try requireEqual(try await stores.second.requestCount(at: later), 5, "the number after 30 days")
      for user in users {
        guard case .waits = try await stores.second.ask(user, code: .random(), at: later) else {
          throw ContractViolation(description: "a user was refused")
        }
      }
    },
    StoreContract("A request expires after 30 days; then the user may ask again") { stores in
      let ada = try Scenario.subject()
      _ = try await stores.first.complete(try Scenario.signIn(ada, lifetime: .seconds(90 * 86_400)))
      let code = AccessRequestCode.random()
      _ = try await stores.first.ask(ada, code: code, at: Scenario.noon)
      let end = Scenario.later(AccessRequest.lifetime)
      try require(try await stores.second.request(of: ada, at: end.addingTimeInterval(-1)) != nil, "it expired early")
      try requireEqual(try await stores.second.request(of: ada, at: end), nil, "the request of the user")
      try requireEqual(try await stores.second.request(code, at: end), nil, "the request of the code")
      try require(try await stores.second.requests(after: nil, limit: 10, at: end).isEmpty, "it is listed")
      try require(try await !stores.second.reject(code, at: end), "it was rejected")
      let again = AccessRequest(code: .random(), subject: ada, asked: end)
      try requireEqual(
        try await stores.first.ask(ada, code: again.code, at: end), .waits(again), "the outcome of asking again")
      // The change of the sign-in.
      _ = try await stores.first.removeExpired(Scenario.removal(after: Scenario.day))
      try requireEqual(
        try await stores.first.removeExpired(Scenario.removal(after: AccessRequest.lifetime)).rows, 0,
        "the number of rows that are removed")
      let rule = Scenario.removal(after: AccessRequest.lifetime + AccessRequest.lifetime)
      _ = try await stores.first.removeExpired(rule)
      try requireEqual(try await stores.second.counts().accessRequests, 0, "the number of requests")
    },
    StoreContract("Requests are listed oldest first, page by page, with the accounts of those who ask") { stores in
      var codes: [AccessRequestCode] = []
      for number in 0..<5 {
        let user = try Scenario.subject("user\(9 - number)")
        let claims = Scenario.claims("\(number)@example.com")
        _ = try await stores.first.complete(try Scenario.signIn(user, claims: claims))
        let code = AccessRequestCode.random()
        _ = try await stores.first.ask(user, code: code, at: Scenario.later(.seconds(number)))
        codes.append(code)
      }
      var listed: [(request: AccessRequest, account: Account)] = []
      while true {
        let last = listed.last?.request.code
        let page = try await stores.second.requests(after: last, limit: 2, at: Scenario.noon).records()
        if page.isEmpty { break }
        listed += page
      }
      try requireEqual(listed.map { $0.request.code }, codes, "the codes")
      try requireEqual(
        listed.map { $0.account.claims.email }, (0..<5).map { "\($0)@example.com" }, "the addresses of those who ask")
      try require(try await stores.first.reject(codes[1], at: Scenario.noon), "it was not rejected")
      let afterGone = try await stores.second.requests(after: codes[1], limit: 1, at: Scenario.noon).records()
      try requireEqual(afterGone.map { $0.request.code }, [codes[0]], "the list after a request that is gone")
    },
    StoreContract("A request ends when it is rejected, when its user is admitted, and when its user is forgotten") {
      stores in
      let staff = try Scenario.group()
      let users = try (0..<3).map { try Scenario.subject("user\($0)") }
      let codes = users.map { _ in AccessRequestCode.random() }
      for (user, code) in zip(users, codes) {
        _ = try await stores.first.complete(try Scenario.signIn(user))
        _ = try await stores.first.ask(user, code: code, at: Scenario.noon)
      }
      try require(try await stores.second.reject(codes[0], at: Scenario.noon), "it was not rejected")
      try require(try await !stores.first.reject(codes[0], at: Scenario.noon), "it was rejected twice")
      _ = try await stores.second.add(users[1], to: staff, by: "cli", at: Scenario.noon)
      try await stores.second.forget(users[2], keeping: [], at: Scenario.noon)
      for (user, code) in zip(users, codes) {
        try requireEqual(try await stores.first.request(of: user, at: Scenario.noon), nil, "the request of \(user)")
        try requireEqual(try await stores.first.request(code, at: Scenario.noon), nil, "the request \(code)")
      }
    },
    StoreContract("Admitting the user of a request adds the user and ends the request, once") { stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      let staff = try Scenario.group()
      for user in [ada, bob] { _ = try await stores.first.complete(try Scenario.signIn(user)) }
      let request = AccessRequest(code: .random(), subject: ada, asked: Scenario.noon)
      _ = try await stores.first.ask(ada, code: request.code, at: Scenario.noon)
      let others = [
        (AccessRequest(code: request.code, subject: bob, asked: Scenario.noon), Scenario.noon),
        (AccessRequest(code: .random(), subject: ada, asked: Scenario.noon), Scenario.noon),
        (request, Scenario.later(AccessRequest.lifetime)),
      ]
      for (other, now) in others {
        try require(try await !stores.second.admit(other, to: staff, by: "cli", at: now), "\(other) was admitted")
      }
      try requireEqual(try await stores.first.memberCounts(), [:], "the members after requests that are not open")
      let admitted = try await stores.second.admit(request, to: staff, by: "cli", at: Scenario.noon)
      try require(admitted, "the request was not admitted")
      try requireEqual(try await stores.first.groups(of: ada), [staff], "the groups of the user")
      try requireEqual(try await stores.first.request(of: ada, at: Scenario.noon), nil, "the request of the user")
      try requireEqual(
        try await stores.second.account(ada)?.access.groups, [staff], "the groups of the user's account")
      let again = try await stores.first.admit(request, to: try Scenario.group("board"), by: "cli", at: Scenario.noon)
      try require(!again, "the request was admitted twice")
      try requireEqual(try await stores.first.groups(of: ada), [staff], "the groups after the second admission")
    },
    StoreContract("Of many who admit and reject a request at once one succeeds, and the user is a member accordingly") {
      stores in
      let staff = try Scenario.group()
      for round in 0..<5 {
        let user = try Scenario.subject("user\(round)")
        _ = try await stores.first.complete(try Scenario.signIn(user))
        let request = AccessRequest(code: .random(), subject: user, asked: Scenario.noon)
        _ = try await stores.first.ask(user, code: request.code, at: Scenario.noon)
        // Both stores admit, and both reject. The results come in the order in which the calls end.
        let results = try await stores.concurrently(8) { store, number in
          let admits = number < 4
          let isDone =
            admits
            ? try await store.admit(request, to: staff, by: "cli", at: Scenario.noon)
            : try await store.reject(request.code, at: Scenario.noon)
          return (admits, isDone)
        }
        try requireEqual(results.count { $0.1 }, 1, "the number of those that decided")
        let isAdmitted = results.contains { $0 && $1 }
        try requireEqual(try await stores.second.groups(of: user), isAdmitted ? [staff] : [], "the groups of the user")
      }
    },
    StoreContract("A request moves with the user to another team") { stores in
      let (old, new) = (try Scenario.subject("old"), try Scenario.subject("new"))
      _ = try await stores.first.complete(try Scenario.signIn(old))
      let code = AccessRequestCode.random()
      _ = try await stores.first.ask(old, code: code, at: Scenario.noon)
      let move = try await move(old, to: new, in: stores.first, email: nil)
      try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of it")
      try requireEqual(try await stores.second.request(code, at: Scenario.noon)?.subject, new, "whose request it is")
    },
  ]
}
