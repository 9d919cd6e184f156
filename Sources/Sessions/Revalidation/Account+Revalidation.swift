package import FoundationEssentials

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
