/// The state of an account's revalidation that one event loop keeps with a cached session.
struct CachedRevalidation {
  /// Whether the account was seen in this process to need no revalidation, and a route that is not public has admitted
  /// the user ever since. Otherwise a revalidation may have become due unnoticed, while only public routes admitted the
  /// user.
  private(set) var isOnSchedule = false
  /// The period in which the revalidation schedule is not evaluated again.
  private(set) var evaluated = Period.none
  /// The period in which a request that does not wait for a revalidation starts none again.
  private(set) var started = Period.none
  /// The period in which no request waits again for an overdue revalidation.
  private(set) var waited = Period.none
  /// The period in which the end of the account's grace is not recorded again.
  private(set) var graceEndNoted = Period.none

  private static let graceEndInterval: Int64 = 3_600_000

  /// Notes that the account needs no revalidation now; only counts where a route that is not public admits the user.
  mutating func noteOnSchedule(isAdmitted: Bool) { isOnSchedule = isAdmitted }

  /// Notes that the schedule was evaluated: not again for 30 s.
  mutating func noteEvaluation(at now: Int64) {
    evaluated = Period(from: now, for: SessionConfiguration.evaluationInterval)
  }

  /// Notes that a request has started a revalidation without waiting for it: none does again for 30 s.
  mutating func noteStart(at now: Int64) {
    started = Period(from: now, for: SessionConfiguration.evaluationInterval)
  }

  /// Notes that a request has waited for a revalidation.
  mutating func noteWait(_ period: Period) { waited = period }

  /// Takes over the wait of the entry that this one replaces. Of the requests that wait for one revalidation each loads
  /// the session again: none of them may wait a second time because of another one's load.
  mutating func keepWait(of replaced: CachedRevalidation) { waited = replaced.waited }

  /// Notes that the end of the grace period was recorded: not again for an hour.
  mutating func noteGraceEnd(at now: Int64) { graceEndNoted = Period(from: now, for: Self.graceEndInterval) }

  /// Notes the result of a revalidation: the schedule is evaluated by it.
  mutating func noteResult() {
    evaluated = .none
    waited = .none
  }

  /// Notes that another configuration has decided whether any route that is not public admits the user.
  mutating func noteAccess(isAdmitted: Bool, wasAdmitted: Bool) {
    if !isAdmitted { isOnSchedule = false }
    // An account that was not being revalidated may be overdue.
    if !wasAdmitted { evaluated = .none }
  }
}
