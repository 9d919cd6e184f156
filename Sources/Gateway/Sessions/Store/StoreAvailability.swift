internal import Sessions

/// The state machine of the session store's availability.
///
/// Answers and failures go in, the notices for the log come out. It has no clock, no log and no lock: see
/// ``StoreHealth``.
///
/// Its parts are independent of one another: a store may answer queries while its change feed fails, be read but not
/// written, and refuse this version before it has answered.
struct StoreAvailability: Sendable {
  private var contact = Contact.opening(.pending)
  private var feed = Feed.unread
  private var condition = Condition.sound
  private var writability = StoreWritability.writable
  /// The time in which caches may be used without another answer.
  private(set) var trust: StoreTrust
  /// The time for which an answer is trusted, in milliseconds.
  private(set) var outageGrace: Int64

  private enum Contact {
    /// The store has not answered since the start.
    case opening(Opening)
    /// It has answered since the start.
    case opened(Outage, Service)
  }

  private enum Opening {
    /// It was not asked yet.
    case pending
    /// It did not answer. With the message of the last failed opening, which was logged.
    case failing(logged: String?)
  }

  /// An outage, which is logged when it begins and when it ends.
  private enum Outage {
    case none
    /// The store answers queries, but the change feed or checks fail.
    case partial
    /// It did not answer when it was last asked.
    case whole
  }

  /// Whether signed-in requests are served, according to the last line of the log about it.
  private enum Service {
    case served, interrupted
    /// Not yet: the store was opened after more than the grace, and the change feed was not asked since.
    case awaited
  }

  /// The change feed. While it fails it is unknown what ended elsewhere, whatever else the store answers.
  private enum Feed {
    case unread
    /// It was asked for its latest answer at this moment, in milliseconds since 1970.
    case answered(asked: Int64)
    case failing(StoreError)
  }

  /// The operations other than the change feed's, as far as they concern the store as a whole.
  private enum Condition {
    /// None has failed since a check succeeded.
    case sound
    /// The latest error, whether an operation has failed since a check succeeded and not only checks, and whether a
    /// missing permission was logged since.
    case failing(StoreError, ofOperation: Bool, isPermissionLogged: Bool)

    /// - Parameter ofOperation: whether it is not a check that failed.
    mutating func fail(_ error: StoreError, ofOperation: Bool) {
      if case .failing(_, let before, let isPermissionLogged) = self {
        self = .failing(error, ofOperation: before || ofOperation, isPermissionLogged: isPermissionLogged)
      } else {
        self = .failing(error, ofOperation: ofOperation, isPermissionLogged: false)
      }
    }
  }

  /// - Parameters:
  ///   - outageGrace: as it is configured.
  ///   - now: in milliseconds since 1970, as everywhere below.
  init(outageGrace: Duration, now: Int64) {
    self.outageGrace = StoreTrust.grace(outageGrace)
    trust = .until(now + self.outageGrace)
  }

  /// Uses another outage grace: a longer one from the next answer on, a shorter one at once.
  mutating func apply(outageGrace: Duration) {
    let grace = StoreTrust.grace(outageGrace)
    trust.shorten(from: self.outageGrace, to: grace)
    self.outageGrace = grace
  }

  // MARK: The state

  /// Whether the store has answered since the start.
  var hasAnswered: Bool { if case .opened = contact { true } else { false } }

  /// Whether the store did not answer when it was last asked.
  var isUnavailable: Bool {
    switch contact {
    case .opening(.pending): false
    case .opening(.failing): true
    case .opened(let outage, _): outage == .whole
    }
  }

  private var feedError: StoreError? { if case .failing(let error) = feed { error } else { nil } }

  /// The latest error of operations other than the change feed's, until a check succeeds and counts.
  private var conditionError: StoreError? { if case .failing(let error, _, _) = condition { error } else { nil } }

  /// Whether what fails keeps the store from being written only: an answer to a query shows that it is available.
  private var isConditionOfWrites: Bool {
    switch condition {
    case .sound: true
    case .failing(let error, let ofOperation, _):
      Self.isOfWrites(error) || !ofOperation && !Self.isOutage(error)
    }
  }

  /// The error to report.
  var problem: StoreError? { conditionError ?? feedError }

  /// Whether only a check can show that the store is available.
  var needsCheck: Bool { !hasAnswered || conditionError != nil }

  /// Whether the last check succeeded, and the change feed answered when it was last asked.
  var isHealthy: Bool { !needsCheck && feedError == nil }

  /// Whether caches may be used at `now`.
  func isTrusted(at now: Int64) -> Bool { trust.contains(now, grace: outageGrace) }

  /// Whether caches may be used at `now`, and the change feed answered when it was last asked.
  func trustsFeed(at now: Int64) -> Bool { feedError == nil && isTrusted(at: now) }

  /// Whether no session may be used at `now`, though the store may answer.
  func refusesSessions(at now: Int64) -> Bool { trust == .refused || !isTrusted(at: now) && feedError != nil }

  /// Whether signed-in requests can be served at `now`: the store answers, or cached sessions are still valid. All
  /// gateways share the store, so reporting not ready earlier would not move requests to a better one.
  func isServing(at now: Int64) -> Bool {
    hasAnswered && !refusesSessions(at: now) && (!isUnavailable || isTrusted(at: now))
  }

  /// Whether the change feed must be read at `now`, even without a sign of changes.
  /// - Parameter interval: the longest time without an answer, in milliseconds.
  func mustAsk(at now: Int64, after interval: Int64) -> Bool {
    guard isHealthy, !isUnavailable, trust != .refused, outageGrace >= 2 * interval, case .answered(let asked) = feed
    else { return true }
    return !Period(from: asked, for: interval).contains(now)
  }

  /// Compares whether signed-in requests are served at `now` with the last line of the log about it.
  mutating func noteService(at now: Int64) -> [StoreNotice] {
    // A store that was never open, and one that refuses this version, have messages of their own.
    guard case .opened(let outage, let logged) = contact, trust != .refused else { return [] }
    let isAwaited = logged == .awaited && outage == .none
    let service: Service = isServing(at: now) ? .served : isAwaited ? .awaited : .interrupted
    guard service != logged else { return [] }
    contact = .opened(outage, service)
    return service == .served ? [.serving] : [.graceEnded(problem)]
  }

  // MARK: Answers

  /// Notes that the store has answered a query. Without the change feed that restores no trust in caches.
  mutating func answered(at arrival: Int64, asked: Int64) -> [StoreNotice] {
    if feedError == nil { trust.renew(at: arrival, asked: asked, grace: outageGrace) }
    switch contact {
    case .opening:
      contact = .opened(.none, .served)
      // Until the change feed has answered: nothing was served that ends now.
      if !isServing(at: arrival) { contact = .opened(.none, .awaited) }
    case .opened(.none, _): break
    case .opened(.partial, let service), .opened(.whole, let service):
      // While the change feed or another query still fails, an answer does not end it. A lock may concern one table:
      // the outage would begin with each query of that one, and end with each answer of the change feed.
      guard feedError == nil, isConditionOfWrites else {
        contact = .opened(.partial, service)
        return []
      }
      contact = .opened(.none, service)
      return [.available]
    }
    return []
  }

  /// Notes that the change feed has answered, and that its changes have been applied: this version may use the store
  /// again if it was refused.
  mutating func feedAnswered(at arrival: Int64, asked: Int64) -> [StoreNotice] {
    feed = .answered(asked: asked)
    guard trust == .refused else { return answered(at: arrival, asked: asked) }
    trust = .until(asked)
    return [StoreNotice.compatible] + answered(at: arrival, asked: asked)
  }

  /// Notes that a check has written to the store.
  mutating func wrote(at arrival: Int64, asked: Int64) -> [StoreNotice] {
    let wasWritable = writability.isWritable
    writability.passedCheck(at: arrival)
    condition =
      writability.shortage.map { Condition.failing($0, ofOperation: false, isPermissionLogged: false) } ?? .sound
    let notices = answered(at: arrival, asked: asked)
    return !wasWritable && writability.isWritable ? notices + [StoreNotice.writable] : notices
  }

  /// Notes that a sign-in was stored, which takes new rows.
  mutating func hadRoom() { writability.hadRoom() }

  // MARK: Failures

  /// Notes that the store could not be opened at the start.
  mutating func didNotOpen(_ error: StoreError) -> [StoreNotice] {
    condition.fail(error, ofOperation: true)
    guard case .opening(let opening) = contact else { return beginOutage("open", error) }
    contact = .opening(.failing(logged: error.message))
    // Its cause may be worded differently each time.
    if case .failing(let logged?) = opening, logged.utf8.elementsEqual(error.message.utf8) { return [] }
    return [.notOpened(error)]
  }

  /// Notes that the change feed did not answer: the store counts as unavailable, even if it answers other queries.
  mutating func feedDidNotAnswer(_ error: StoreError) -> [StoreNotice] {
    feed = .failing(error)
    return beginOutage("changes", error)
  }

  /// Notes that a check could not write to the store. It may still answer queries, even if the error is one of an
  /// outage: those that fail say so themselves.
  mutating func didNotWrite(_ error: StoreError) -> [StoreNotice] {
    condition.fail(error, ofOperation: false)
    if error.code == .newerSchema { return refuse(error) }
    guard case .opened(let outage, let service) = contact else { return [] }
    // The store answers, and only what needs the permission fails. Wrong credentials make queries fail as well.
    if error.code == .denied, outage != .whole {
      guard case .failing(_, ofOperation: let ofOperation, isPermissionLogged: false) = condition else { return [] }
      condition = .failing(error, ofOperation: ofOperation, isPermissionLogged: true)
      return [.permissionMissing(error)]
    }
    guard Self.isOutage(error) else { return couldNotWrite(error) }
    guard outage == .none else { return [] }
    contact = .opened(.partial, service)
    return [.unavailable(operation: "ping", error)]
  }

  /// Notes that an operation failed. The store may still be available.
  mutating func failed(_ operation: String, _ error: StoreError) -> [StoreNotice] {
    // The store answers, and only what needs the permission or the table fails. Wrong credentials, or a file that is
    // damaged as a whole, make the change feed fail as well.
    if error.code == .denied || error.code == .corrupt, case .opened(let outage, _) = contact, outage != .whole {
      condition.fail(error, ofOperation: true)
      return [.operationFailed(operation, error)]
    }
    if Self.isOutage(error) { return didNotAnswer(operation, error) }
    switch error.code {
    case .readOnly: return couldNotWrite(error)
    case .full:
      let notices = couldNotWrite(error)
      writability.foundNoRoom(error)
      condition.fail(error, ofOperation: false)
      return notices
    default: return [.operationFailed(operation, error)]
    }
  }

  /// Notes that a query was not answered: the store counts as unavailable, unless it has answered with a record that is
  /// damaged.
  mutating func didNotAnswer(_ operation: String, _ error: StoreError) -> [StoreNotice] {
    if error.code == .damagedRow { return [.operationFailed(operation, error)] }
    condition.fail(error, ofOperation: true)
    return beginOutage(operation, error)
  }

  /// Notes that the store did not answer.
  private mutating func beginOutage(_ operation: String, _ error: StoreError) -> [StoreNotice] {
    if error.code == .newerSchema { return refuse(error) }
    switch contact {
    case .opening(.pending): contact = .opening(.failing(logged: nil))
    case .opening(.failing): break
    case .opened(let outage, let service):
      contact = .opened(.whole, service)
      if outage == .none { return [.unavailable(operation: operation, error)] }
    }
    return []
  }

  private mutating func couldNotWrite(_ error: StoreError) -> [StoreNotice] {
    guard writability.isWritable else { return [] }
    writability.couldNotWrite()
    return [.notWritable(error)]
  }

  private mutating func refuse(_ error: StoreError) -> [StoreNotice] {
    guard trust != .refused else { return [] }
    trust = .refused
    return [.refused(error)]
  }

  /// Whether an error keeps the store from being written only.
  private static func isOfWrites(_ error: StoreError) -> Bool { error.code == .readOnly || error.code == .full }

  /// Whether an error concerns the store as a whole, and not one operation.
  private static func isOutage(_ error: StoreError) -> Bool {
    switch error.code {
    case .unavailable, .denied, .misconfigured, .missingDirectory, .newerSchema, .unfinishedCopy, .corrupt, .closed:
      true
    case .readOnly, .full, .interrupted, .busy, .damagedRow, .conflict, .internalError: false
    }
  }
}
