internal import AppleIdentity
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Sessions
internal import Synchronization

/// The daily check: asks Apple about an account when it is due, and carries out what the answer means.
///
/// When a check is due is for `CheckSchedule` to say, whether it may be made for the store (`claimCheck`), and what an
/// answer means for `CheckWeather`. Here they are put together, and nothing is decided twice.
final class DailyCheck: Sendable {
  private let means: Mutex<Means>
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let clock: @Sendable () -> Date
  private let state = Mutex(State())

  /// What a check is made with, by the configuration. A check goes on with what it began with.
  struct Means: Sendable {
    let apple: AppleIdentityProvider
    let keyring: SessionKeyring
    let audit: AuditTrail
    let interval: Duration
  }

  private struct State {
    var weather = CheckWeather()
    var backoff = ReachabilityBackoff()
    /// Accounts being checked by this process, and who waits for each.
    var underWay: [Subject: [AsyncStream<Never>.Continuation]] = [:]
  }

  /// What came of a check, for the memories.
  struct Outcome {
    var ended: [SessionHandle] = []
    var accountChanged = false
  }

  /// Most checks under way at a time: Apple is asked steadily, not in floods.
  private static let mostAtOnce = 64
  private static let mostOverdueAtOnce = 1_024

  init(
    _ means: Means, metrics: MetricsRegistry, logger: Logger, clock: @escaping @Sendable () -> Date = { Date.now }
  ) {
    self.clock = clock
    self.means = Mutex(means)
    self.metrics = metrics
    self.logger = logger
  }

  /// Checks are made by other means from now on. What is known of Apple and of checks under way stays.
  func adopt(_ means: Means) { self.means.withLock { $0 = means } }

  /// Takes the account on; false where it is being checked already, or too many are.
  /// - Parameter isOverdue: whether somebody waits for it: then more may be under way.
  func begin(_ subject: Subject, isOverdue: Bool) -> Bool {
    state.withLock { state in
      let limit = isOverdue ? Self.mostOverdueAtOnce : Self.mostAtOnce
      guard state.underWay[subject] == nil, state.underWay.count < limit else { return false }
      state.underWay[subject] = []
      return true
    }
  }

  func end(_ subject: Subject) {
    let waiting = state.withLock { $0.underWay.removeValue(forKey: subject) ?? [] }
    for continuation in waiting { continuation.finish() }
  }

  /// Waits until the check of the account that is under way is over.
  func waitForEnd(of subject: Subject, atMost limit: Duration) async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let isUnderWay = state.withLock { state in
      guard state.underWay[subject] != nil else { return false }
      state.underWay[subject]?.append(continuation)
      return true
    }
    guard isUnderWay else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in stream {} }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Checks one account, if nobody has within the interval.
  func run(_ snapshot: SessionSnapshot, store: any SessionStore) async -> Outcome {
    let (now, means) = (clock(), means.withLock { $0 })
    guard state.withLock({ $0.backoff.mayTry(at: now) }) else { return Outcome() }
    do throws(StoreError) {
      let claimed = try await store.claimCheck(
        of: snapshot.account.subject, preferring: snapshot.session.clientID, interval: means.interval, now: now)
      switch claimed {
      case .granted(let claim): return try await ask(claim, means, store)
      // Somebody asked meanwhile, here or on another replica: what they learnt is in the store.
      case .notYet(let account): return Outcome(accountChanged: account != snapshot.account)
      case .nothingToAskWith: return Outcome()
      }
    } catch {
      metrics.storeFailures.count("check")
      logger.warning("a daily check could not be written down", metadata: ["error": "\(error)"])
      return Outcome()
    }
  }

  private func ask(
    _ claim: CheckClaim, _ means: Means, _ store: any SessionStore
  ) async throws(StoreError) -> Outcome {
    let token: RefreshTokenText
    do throws(SealError) {
      token = try means.keyring.open(claim.token, of: claim.subject, clientID: claim.clientID)
    } catch {
      logger.error(
        "a refresh token cannot be opened: is its key still in session.secret_files?",
        metadata: ["key": "\(claim.token.key)"])
      _ = try await store.record(.noGoodAnswer, of: claim, at: clock())
      return Outcome()
    }
    let answer = await means.apple.tokens.refresh(RefreshToken(token.revealed), clientID: claim.clientID)
    let verdict = Verdict(answer)
    let judgement = state.withLock { state in
      if verdict == .notSent { state.backoff.noteNotSent(at: clock()) } else { state.backoff.noteSent() }
      return state.weather.judge(verdict, at: clock())
    }
    metrics.checks.count(verdict.label)
    means.audit.record(.check(verdict: verdict.label), subject: claim.subject, clientID: claim.clientID)
    if let alarm = judgement.alarm {
      let count: Logger.Metadata = alarm.checks.map { ["checks": "\($0)"] } ?? [:]
      logger.critical(
        "\(alarm.message)", metadata: count.merging(["remedy": "\(alarm.remedy)"]) { own, _ in own })
    }
    log(answer)
    switch judgement.consequence {
    case .giveBack:
      try await store.giveBack(claim)
      return Outcome()
    case .keep:
      _ = try await store.record(.noGoodAnswer, of: claim, at: clock())
      return Outcome(accountChanged: true)
    case .endSessions:
      let recorded = try await store.record(.revoked, of: claim, at: clock())
      for handle in recorded.ended {
        metrics.sessionsEnded.count(SessionEnding.revoked.label)
        means.audit.record(
          .sessionEnded(reason: SessionEnding.revoked.label), subject: claim.subject, session: handle,
          clientID: claim.clientID)
      }
      return Outcome(ended: recorded.ended, accountChanged: true)
    case .noteGood:
      var claims: AccountClaims?
      if case .goodStanding(let identity?, _) = answer, identity.subject == claim.subject.text {
        claims = AccountClaims(identity.claims)
      }
      _ = try await store.record(.good(claims: claims, token: nil), of: claim, at: clock())
      return Outcome(accountChanged: true)
    }
  }

  /// What an operator wants to know of an answer that is not good.
  private func log(_ answer: RefreshVerdict) {
    switch answer {
    case .goodStanding(_, let rejection):
      guard let rejection else { return }
      logger.warning(
        "Apple's identity token with a refresh was not understood; the user is in good standing",
        metadata: ["reason": "\(rejection.message)"])
    case .revoked: break
    case .misconfigured(let refusal):
      logger.error(
        "Apple refused a check because of our own credentials", metadata: ["remedy": "\(refusal.remedy)"])
    case .appleTrouble(let trouble):
      logger.warning("a check came to nothing", metadata: ["reason": "\(trouble.message)"])
    case .notSent(let reason):
      logger.warning("Apple could not be reached for a check", metadata: ["reason": "\(reason)"])
    case .noSecret(let problem):
      logger.error("no client secret for a check", metadata: ["reason": "\(problem.message)"])
    }
  }
}

extension DailyCheck.Means {
  init(_ credentials: Credentials, _ settings: RevalidationSettings) {
    self.init(
      apple: credentials.apple, keyring: credentials.keyring, audit: credentials.audit, interval: settings.interval)
  }
}

extension Verdict {
  /// The row of the verdict table that an answer belongs to.
  init(_ answer: RefreshVerdict) {
    self =
      switch answer {
      case .goodStanding: .good
      case .revoked: .revoked
      case .misconfigured, .noSecret: .ourMistake
      case .appleTrouble: .appleTrouble
      case .notSent: .notSent
      }
  }

  /// What metrics and the audit call it.
  var label: String {
    switch self {
    case .good: "good"
    case .revoked: "revoked"
    case .ourMistake: "misconfigured"
    case .appleTrouble: "unavailable"
    case .notSent: "not_sent"
    }
  }
}
