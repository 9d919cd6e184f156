package import FoundationEssentials

/// A row that this version cannot have written: it was changed by hand or is damaged.
package struct DamagedRowError: Error {
  /// The kind of record.
  package let what: String
  /// Whether the store as a whole depends on it, and not one user.
  package let isOfStore: Bool

  /// A row of this kind cannot be read.
  package init(what: String, isOfStore: Bool = false) {
    self.what = what
    self.isOfStore = isOfStore
  }
}

/// Records that stores keep as JSON.
package enum RecordText {
  /// The record as JSON with sorted keys.
  package static func encode(_ record: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(record), as: UTF8.self)
  }

  /// Reads a record.
  /// - Throws: ``DamagedRowError``.
  package static func decode<Record: Decodable>(_ type: Record.Type, _ text: String) throws -> Record {
    do {
      // By way of an array: for other sequences, the runtime searches all conformances of the program.
      return try JSONDecoder().decode(type, from: Data(Array(text.utf8)))
    } catch {
      throw DamagedRowError(what: "\(type)")
    }
  }
}

extension SignIn {
  /// The account after this sign-in.
  ///
  /// - Parameters:
  ///   - before: the stored account; nil for a new user.
  ///   - submitted: the name that was kept before the exchange (`SignInStore.savePendingName`).
  ///   - hasToken: whether a refresh token of the client is stored already.
  package func account(after before: Account?, submitted: PersonName?, hasToken: Bool) -> Account {
    var access = before?.access ?? AccountAccess()
    // If Apple sent no token, an admitted user must not have to sign in over and over.
    access.isTokenDiscarded = discardsToken && token == nil && !hasToken
    return Account(
      subject: session.subject,
      name: name ?? submitted ?? before?.name,
      claims: (before?.claims ?? AccountClaims()).afterSignIn(claims),
      latestAuthorization: session.began.orLater(before?.latestAuthorization),
      lastVerified: session.began.orLater(before?.lastVerified),
      lastAsked: session.began.orLater(before?.lastAsked),
      lastAnswer: before?.lastAnswer,
      appleAuthorized: appleAuthorized.map { $0.orLater(before?.appleAuthorized) }, access: access)
  }

  /// The change to note for this sign-in: whether other sessions of the user have to read the account again.
  package func change(from before: Account?, to after: Account) -> StoreChange {
    guard let before else { return .signedIn(after.subject) }
    let isSame = before.name == after.name && before.claims == after.claims && before.access == after.access
    return isSame ? .signedIn(after.subject) : .accountChanged(after.subject)
  }
}

/// The standing of a lease when its result is recorded, which may be late.
package enum LeaseStanding: Sendable, Equatable {
  /// Neither another lease nor a sign-in came since.
  case latest
  /// The user signed in since: the result affects the token that it is about, if that was not replaced, and not the
  /// account.
  case signedInSince
  /// Apple was asked again since: the result is outdated, and has no effect.
  case outdated
}

extension Account {
  /// The standing of a lease of this account.
  /// - Parameter number: that of the account's latest lease or sign-in.
  package func standing(of lease: RevalidationLease, latest number: Int64) -> LeaseStanding {
    if lease.number == number { return .latest }
    // A sign-in counts as asking, too.
    guard let asked = lastAsked?.stored, asked > lease.acquiredAt.stored, asked > latestAuthorization.stored else {
      return .signedInSince
    }
    return .outdated
  }

  /// The account after a revalidation.
  package func after(_ answer: RevalidationRecord, at now: Date) -> Account {
    var after = self
    after.lastAnswer = answer.kind
    if case .good(let claims, _) = answer {
      after.lastVerified = now.asStored.orLater(lastVerified)
      after.checkFailingSince = nil
      if let claims { after.claims = self.claims.afterCheck(claims) }
    }
    return after
  }
}

extension Account {
  /// Whether the account differs only by the times and the result of a revalidation and by claims about the token, and
  /// none of the times is earlier.
  package func differsOnlyByRevalidation(from before: Account) -> Bool {
    guard lastVerified >= before.lastVerified, lastAsked ?? .distantPast >= before.lastAsked ?? .distantPast else {
      return false
    }
    var expected = before
    expected.lastVerified = lastVerified
    expected.lastAsked = lastAsked
    expected.lastAnswer = lastAnswer
    expected.checkFailingSince = checkFailingSince
    expected.claims = before.claims.withTokenClaims(of: claims)
    return self == expected
  }

  /// Whether other loops and replicas must read the account again after a revalidation, because Apple sent new data
  /// about the user.
  package func hasNewClaims(since before: Account) -> Bool {
    claims != before.claims.withTokenClaims(of: claims)
  }
}

extension Account {
  /// Whether no lease to ask Apple was acquired within `interval`.
  package func mayBeAsked(at now: Date, interval: Duration) -> Bool {
    guard let asked = lastAsked?.credible(at: now) else { return true }
    let (latest, isBeyond) = now.stored.subtractingReportingOverflow(interval.milliseconds)
    return asked.stored <= (isBeyond ? .min : latest)
  }

  /// The account after a lease to ask Apple was acquired. Until a good answer is recorded, the attempt counts as
  /// failed, whatever happens to the process or to Apple.
  package func afterAcquiringLease(at now: Date) -> Account {
    var after = self
    after.checkFailingSince = failingSince(at: now) ?? now
    after.lastAsked = now
    // Other processes see by it whether an answer has been recorded.
    after.lastAnswer = nil
    return after
  }

  /// The account without a token to ask Apple with: no revalidation can succeed from the moment one was due. Nil if
  /// that is recorded already.
  package func withoutToken(at now: Date, interval: Duration) -> Account? {
    guard failingSince(at: now) == nil else { return nil }
    var after = self
    after.checkFailingSince = (lastVerified.credible(at: now) ?? .distantPast).advanced(by: interval)
    return after
  }
}

extension Date {
  /// The later of the two that is credible, for clocks that differ a little.
  fileprivate func orLater(_ stored: Date?) -> Date {
    guard let stored = stored?.credible(at: self), stored > self else { return self }
    return stored
  }

  /// The stored form: whole milliseconds since 1970.
  package var stored: Int64 { millisecondsSince1970 }

  /// The instant after rounding to its stored form.
  fileprivate var asStored: Date { Date(millisecondsSince1970: stored) }
}
