internal import FoundationEssentials
internal import Sessions
internal import Synchronization

/// The result of a revalidation that the store is to record, with the lease that it belongs to.
struct UnrecordedResult: Sendable {
  enum Content: Sendable {
    /// Apple's answer, and its name in the audit.
    case answer(RevalidationRecord, verdict: String)
    /// Apple was not asked, or the request cannot have reached it: the lease is to be released.
    case notAsked
  }

  let lease: RevalidationLease
  let content: Content
  /// When Apple answered, or the attempt ended.
  let answeredAt: Date
  /// That of the configuration which the revalidation was made with.
  let audit: AuditTrail

  /// Whether Apple reports the token as revoked.
  var isRevocation: Bool { if case .answer(.revoked, _) = content { true } else { false } }

  /// Whether Apple reports the token of a session as revoked. A sign-in after the lease brought another one.
  func revokes(_ session: Session) -> Bool {
    isRevocation && session.subject == lease.subject && session.clientID.utf8.elementsEqual(lease.clientID.utf8)
      && session.began <= lease.acquiredAt
  }
}

/// Results that the store did not take, in the order in which they came: one for each account, the latest, and no more
/// than a number of them. A value without clock and store: `RevalidationRecorder` records what is here.
struct UnrecordedResultTable {
  /// A result, and the number that it was kept under.
  struct Entry: Sendable {
    let number: Int
    let result: UnrecordedResult
  }

  private var entries: [Subject: Entry] = [:]
  private var lastNumber = 0
  private let limit: Int

  /// - Parameter limit: the number of results that are kept.
  init(limit: Int) { self.limit = limit }

  var count: Int { entries.count }

  /// Keeps a result in place of an earlier one of the account.
  /// - Returns: the result that had to make room, if any: the oldest, revocations last.
  mutating func keep(_ result: UnrecordedResult) -> UnrecordedResult? {
    lastNumber += 1
    entries[result.lease.subject] = Entry(number: lastNumber, result: result)
    guard entries.count > limit else { return nil }
    let others = entries.values.filter { !$0.result.isRevocation }
    guard let oldest = others.min(by: { $0.number < $1.number }) ?? first(after: 0) else { return nil }
    entries[oldest.result.lease.subject] = nil
    return oldest.result
  }

  /// The earliest result with a greater number.
  func first(after number: Int) -> Entry? {
    entries.values.filter { $0.number > number }.min { $0.number < $1.number }
  }

  /// Removes a result, unless a later one of the account has taken its place.
  mutating func remove(_ entry: Entry) {
    let subject = entry.result.lease.subject
    if entries[subject]?.number == entry.number { entries[subject] = nil }
  }

  /// Whether one of these results ends the session.
  func revokes(_ session: Session) -> Bool { entries[session.subject]?.result.revokes(session) ?? false }
}

/// The results of this process that wait for the store. Sessions that they end are refused meanwhile.
final class UnrecordedResults: Sendable {
  /// The number of results that are kept. While the store takes none it grants no lease, so that hardly more come than
  /// revalidations were under way (`RevalidationSlots`). Default: 1,000.
  static let limit = 1_000

  private let table: Mutex<UnrecordedResultTable>

  /// - Parameter limit: the number of results that are kept.
  init(limit: Int = UnrecordedResults.limit) { table = Mutex(UnrecordedResultTable(limit: limit)) }

  var count: Int { table.withLock { $0.count } }

  /// See ``UnrecordedResultTable/keep(_:)``.
  func keep(_ result: UnrecordedResult) -> UnrecordedResult? { table.withLock { $0.keep(result) } }

  func first(after number: Int) -> UnrecordedResultTable.Entry? { table.withLock { $0.first(after: number) } }

  func remove(_ entry: UnrecordedResultTable.Entry) { table.withLock { $0.remove(entry) } }

  /// Whether a result that is not recorded yet ends the session.
  func revokes(_ session: Session) -> Bool { table.withLock { $0.revokes(session) } }
}
