internal import AppleIdentity
internal import FoundationEssentials
internal import Operations
internal import Sessions
internal import Synchronization

/// The results of recent calls to Apple with one set of credentials, and what follows from them: whether to call again,
/// whether revocations are applied, and the report to health.
final class AppleCallHistory: Sendable {
  private struct State {
    var circuitBreaker = RevalidationCircuitBreaker()
    var backoff = ReachabilityBackoff()
    /// Of the clients whose credentials Apple refuses.
    var refusals: [String: ReachabilityBackoff] = [:]
    var pause = ThrottlePause()
    var condition = AppleCondition()
    let clockAlarms = LogLimit(each: .seconds(3_600))

    /// Notes what an answer says about the credentials of a client.
    mutating func noteCredentials(_ result: RevalidationResult, of clientID: String, at now: Date) {
      switch result {
      case .misconfigured: refusals[clientID, default: ReachabilityBackoff()].noteNotSent(at: now)
      case .good, .revoked: refusals[clientID] = nil
      case .appleTrouble, .notSent: break
      }
    }

    /// Notes an identity token that shows whether our clock is behind; nil does nothing.
    /// - Returns: the alarm, unless it was raised within the hour.
    mutating func noteIdentityToken(isFromFuture: Bool?, at now: Date) -> RevalidationAlarm? {
      guard let isFromFuture else { return nil }
      condition.noteIdentityToken(isFromFuture: isFromFuture, at: now)
      return isFromFuture && clockAlarms.isDue(at: .milliseconds(now.millisecondsSince1970)) ? .clockBehind : nil
    }
  }

  /// The decision on an answer.
  struct Decision {
    let action: RevalidationAction
    /// The alarm to raise now.
    let alarm: RevalidationAlarm?
  }

  private let state = Mutex(State())

  /// Whether a revalidation may call Apple now for a client. During back-off it is the one attempt, whose answer must
  /// be noted. There is back-off, too, while Apple refuses the credentials: each such attempt uses up the lease of an
  /// account, which another gateway, with other credentials or a better clock, could have used.
  func mayCall(for clientID: String, at now: Date) -> Bool {
    state.withLock { state in
      guard state.backoff.mayTry(at: now) else { return false }
      guard state.refusals[clientID]?.mayTry(at: now) ?? true else {
        state.backoff.noteNotTried(since: now)
        return false
      }
      return true
    }
  }

  /// Whether Apple has refused a client's credentials, and not accepted them since; of any client if it is nil.
  func refuses(_ clientID: String?) -> Bool {
    state.withLock { state in
      guard let clientID else { return !state.refusals.isEmpty }
      return state.refusals[clientID] != nil
    }
  }

  /// Whether revalidations that can be put off are, because Apple has asked for a pause.
  func isPaused(at now: Date) -> Bool { state.withLock { $0.pause.contains(now) } }

  /// Notes that a revalidation that might call Apple has not: another may at once.
  /// - Parameter since: the moment of `mayCall(for:at:)`.
  func noteNotCalled(for clientID: String, since: Date) {
    state.withLock { state in
      state.backoff.noteNotTried(since: since)
      state.refusals[clientID]?.noteNotTried(since: since)
    }
  }

  /// Notes that a probe could not fetch Apple's keys.
  func noteProbeFailed(_ problem: AppleKeySetError, at now: Date) {
    let unsent = problem.unsentReason
    state.withLock {
      $0.condition.noteProbeFailed(reason: unsent ?? problem.message, isUnsent: unsent != nil, at: now)
    }
  }

  /// Notes the answer to a revalidation, and decides what follows from it.
  /// - Parameter began: when the call began.
  func note(_ answer: RefreshOutcome, clientID: String, began: Date, at now: Date) -> Decision {
    let result = RevalidationResult(answer)
    return state.withLock { state in
      switch answer {
      case .notSent: state.backoff.noteNotSent(at: now)
      case .appleTrouble(let trouble) where trouble.isInconclusive:
        state.backoff.noteInconclusive(since: began, at: now)
      // Apple was not called.
      case .noSecret: break
      case .goodStanding, .revoked, .misconfigured, .appleTrouble: state.backoff.noteAnswered(at: now)
      }
      state.noteCredentials(result, of: clientID, at: now)
      if case .appleTrouble(.throttled(let pause?)) = answer { state.pause.note(pause, at: now) }
      state.condition.note(AppleCondition.Contact(answer), clientID: clientID, at: now)
      if let problem = answer.missingKeys { state.condition.noteMissingKeys(reason: problem.message, at: now) }
      let clockAlarm = state.noteIdentityToken(isFromFuture: answer.isTokenFromFuture, at: now)
      let decision = state.circuitBreaker.evaluate(result, of: clientID, at: now)
      return Decision(action: decision.action, alarm: decision.alarm ?? clockAlarm)
    }
  }

  /// Notes the outcome of a sign-in's code exchange: Apple refuses or accepts our credentials there as well, and sends
  /// an identity token.
  /// - Returns: the alarm to raise.
  func note(_ outcome: ExchangeOutcome, clientID: String, at now: Date) -> RevalidationAlarm? {
    state.withLock { state in
      if case .appleTrouble(.throttled(let pause?)) = outcome { state.pause.note(pause, at: now) }
      if let problem = outcome.missingKeys { state.condition.noteMissingKeys(reason: problem.message, at: now) }
      let clockAlarm = state.noteIdentityToken(isFromFuture: outcome.isTokenFromFuture, at: now)
      // A sign-in without an answer of use begins no back-off: what the browser sent may be the reason.
      if outcome.isAnswered { state.backoff.noteAnswered(at: now) }
      guard let contact = AppleCondition.Contact(outcome) else { return clockAlarm }
      state.condition.note(contact, clientID: clientID, at: now)
      // A sign-in that is refused begins no pause: a forged response may be the reason.
      if case .accepted = contact { state.refusals[clientID] = nil }
      guard case .refused = contact else { return clockAlarm }
      return state.circuitBreaker.credentialsRefused(at: now)
    }
  }

  /// Notes a notification that Apple signed, and that was issued in the future by our clock.
  /// - Returns: the alarm to raise.
  func noteNotificationFromFuture(at now: Date) -> RevalidationAlarm? {
    state.withLock { $0.noteIdentityToken(isFromFuture: true, at: now) }
  }

  /// Whether ``beginProbe(at:)`` would begin one.
  func isProbeDue(at now: Date) -> Bool { state.withLock { $0.condition.isProbeDue(at: now) } }

  /// Whether to call Apple now to see whether it can be reached again; see ``AppleCondition/beginProbe(at:)``.
  func beginProbe(at now: Date) -> Bool { state.withLock { $0.condition.beginProbe(at: now) } }

  /// Notes that a probe has reached Apple: revalidations need not wait for the end of their pause.
  /// - Parameter clockDifference: see ``AppleCondition/noteReachable(clockDifference:)``.
  func noteReachable(clockDifference: TimeInterval?) {
    state.withLock { state in
      state.condition.noteReachable(clockDifference: clockDifference)
      state.backoff.noteSent()
    }
  }

  /// The report to health.
  func report(at now: Date) -> AppleCondition.Report {
    state.withLock { $0.condition.report($0.circuitBreaker.hold(at: now), at: now) }
  }
}

extension AppleCondition.Contact {
  /// The contact with Apple that a refresh shows.
  fileprivate init(_ answer: RefreshOutcome) {
    self =
      switch answer {
      case .goodStanding, .revoked: .accepted
      case .misconfigured(let refusal): .refused(code: refusal.code.rawValue, remedy: refusal.refreshRemedy)
      case .noSecret(let problem): .refused(code: "no client secret", remedy: problem.message)
      case .appleTrouble(let error): .inconclusive(reason: error.message)
      case .notSent(let reason): .notSent(reason: reason)
      }
  }

  /// The contact with Apple that a code exchange shows; nil if it shows nothing.
  fileprivate init?(_ outcome: ExchangeOutcome) {
    switch outcome {
    case .granted, .refused, .mismatch: self = .accepted
    case .misconfigured(let refusal): self = .refused(code: refusal.code.rawValue, remedy: refusal.remedy)
    case .noSecret(let problem): self = .refused(code: "no client secret", remedy: problem.message)
    case .appleTrouble(let error): self = .inconclusive(reason: error.message)
    case .notSent(let reason): self = .notSent(reason: reason)
    case .unverified(.keysUnavailable(let problem)):
      // The keys are at the same address as the token endpoint. Other trouble with them is noted besides.
      guard let reason = problem.unsentReason else { return nil }
      self = .notSent(reason: reason)
    // It may be forged.
    case .unverified: return nil
    }
  }
}

extension RefreshOutcome {
  /// The remedy for Apple's refusal of our credentials; nil if it did not refuse them.
  var refusalRemedy: String? { AppleCondition.Contact(self).refusalRemedy }
}

extension ExchangeOutcome {
  /// The remedy for Apple's refusal of our credentials; nil if it did not refuse them.
  var refusalRemedy: String? { AppleCondition.Contact(self)?.refusalRemedy }
}

extension AppleServiceError {
  /// Whether Apple gave no answer of use: others that ask now hardly get one either. The pause that Apple asks for with
  /// 429 is one: `ThrottlePause` keeps it.
  fileprivate var isInconclusive: Bool {
    switch self {
    case .throttled(_?): false
    case .unanswered, .throttled, .status, .malformed: true
    }
  }
}

extension ExchangeOutcome {
  /// Whether Apple's token endpoint gave an answer of use.
  fileprivate var isAnswered: Bool {
    switch self {
    case .granted, .refused, .mismatch, .misconfigured: true
    case .appleTrouble(let trouble): !trouble.isInconclusive
    case .noSecret, .notSent: false
    // A token that came by the browser may be the one that was not verified.
    case .unverified: false
    }
  }
}

extension AppleCondition.Contact {
  fileprivate var refusalRemedy: String? {
    guard case .refused(_, let remedy) = self else { return nil }
    return remedy
  }
}

extension IdentityTokenError {
  /// The reason why Apple's keys are missing, though Apple can be reached; nil if the token is at fault, or names a key
  /// so soon after a fetch that it is unknown whether Apple has it: tokens that anybody can write do that as well.
  fileprivate var missingKeys: AppleKeySetError? {
    switch self {
    case .keysUnavailable(.unknownKey), .keysUnavailable(.coolingDown), .keysUnavailable(.unreachable(.notSent)): nil
    case .keysUnavailable(let problem): problem
    default: nil
    }
  }
}

extension RefreshOutcome {
  /// The reason why Apple's keys were not available for the identity token in the answer.
  fileprivate var missingKeys: AppleKeySetError? {
    guard case .goodStanding(let standing) = self else { return nil }
    return standing.rejection?.missingKeys
  }
}

extension ExchangeOutcome {
  /// The reason why Apple's keys were not available for an identity token of the sign-in.
  fileprivate var missingKeys: AppleKeySetError? {
    guard case .unverified(let rejection) = self else { return nil }
    return rejection.missingKeys
  }
}

// A token is found to be from the future after its signature, its issuer and its audience were verified.

extension RefreshOutcome {
  /// Whether the identity token in the answer was issued in the future by our clock; nil if none shows that.
  fileprivate var isTokenFromFuture: Bool? {
    guard case .goodStanding(let standing) = self else { return nil }
    if standing.rejection == .issuedInFuture { return true }
    return standing.identityToken == nil ? nil : false
  }
}

extension ExchangeOutcome {
  /// Whether an identity token of the sign-in was issued in the future by our clock; nil if none shows that.
  fileprivate var isTokenFromFuture: Bool? {
    switch self {
    case .unverified(.issuedInFuture): true
    case .granted, .mismatch: false
    case .unverified, .refused, .misconfigured, .noSecret, .appleTrouble, .notSent: nil
    }
  }
}
