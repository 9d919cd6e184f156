import FoundationEssentials
package import Sessions

/// The contract of a store whose data is of the first version of the gateway: everybody in it stays signed in.
package enum EarlierVersionContract {
  /// Opens the data, which brings it up to this version, closes it, and does the same again.
  /// - Parameters:
  ///   - signIn: a sign-in that the data has the rows of, at 1,790,000,000 seconds after 1970, with a token. Its
  ///     account is named Ada, and its last check had no good answer.
  ///   - open: opens the data, at least once. It may open it several times at once, as several gateways do.
  /// - Throws: `ContractViolation`, or what the store threw.
  package static func run(
    with signIn: SignIn, open: @Sendable () async throws -> [any SessionStore]
  ) async throws {
    let session = signIn.session
    let token = try requireValue(signIn.token, "token")
    let staff = try Scenario.group()
    var firstKey: [UInt8]?
    for round in 1...2 {
      let stores = try await open()
      let store = try requireValue(stores.first, "store")
      let account = try requireValue(try await store.find(session.handle)?.account, "account")
      try requireEqual(account.name?.given, "Ada", "the name")
      try requireEqual(account.claims, signIn.claims, "the claims")
      try requireEqual(account.lastVerified, Scenario.noon, "the last verification")
      try requireEqual(account.checkFailingSince, nil, "the beginning of failed checks")
      try requireEqual(account.appleAuthorized, nil, "the time of Apple's token")
      let access = round == 1 ? AccountAccess() : AccountAccess(groups: [staff])
      try requireEqual(account.access, access, "the access")
      let key = try await store.storeKey().exposedBytes
      try require(key.contains { $0 != 0 }, "the key is zero")
      try requireEqual(key, firstKey ?? key, "the key of round \(round)")
      firstKey = key
      let isAdded = try await store.add(session.subject, to: staff, by: "cli", at: Scenario.noon)
      try requireEqual(isAdded, round == 1, "whether the user was added")
      let now = Scenario.noon.addingTimeInterval(Double(round + 1) * 86_400)
      let outcome = try await store.acquireLease(
        of: session.subject, preferring: session.clientID, interval: Scenario.day, now: now)
      let lease = try requireValue(outcome.granted, "lease")
      try requireEqual(lease.token, token, "the token")
      _ = try await store.record(.good(claims: nil, token: nil), of: lease, at: Scenario.noon)
      for store in stores {
        try await store.ping()
        try await store.close()
      }
    }
  }
}
