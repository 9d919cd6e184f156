internal import Sessions

/// The slots for revalidations of this process, and the queue of overdue accounts that wait for one. A value without
/// synchronization: `RevalidationQueue` locks it, and finishes the continuations that it returns.
struct RevalidationSlots {
  typealias Signal = AsyncStream<Never>.Continuation

  /// The result of asking for a slot.
  enum SlotResult: Equatable {
    /// A slot was taken: the caller makes the revalidation.
    case begun
    /// Another caller makes the revalidation.
    case underWay
    /// All slots were taken until the deadline.
    case none
  }

  /// An overdue account's number in the queue.
  typealias Ticket = Int

  private struct Waiting {
    let subject: Subject
    let signal: Signal
  }

  /// The largest number of background revalidations at a time: Apple is asked steadily, not in bursts.
  static let backgroundLimit = 64
  /// The largest number of revalidations at a time that requests wait for.
  static let overdueLimit = 1_024

  /// Accounts under revalidation, and the signals of those that wait for each.
  private var underWay: [Subject: [Signal]] = [:]
  /// Those of them that wait for the result of another process. They do not ask Apple, so that they do not count where
  /// the limit is for its sake.
  private var elsewhere: Set<Subject> = []
  private var queue: [Ticket: Waiting] = [:]
  /// The queue begins here, and ends before `next`; tickets in between may have been removed.
  private var first: Ticket = 0
  private var next: Ticket = 0
  /// The results of tickets that have left the queue and are not collected yet.
  private var assigned: [Ticket: SlotResult] = [:]

  /// An account that this process asks Apple about; nil if there is none.
  var anyUnderWay: Subject? { underWay.keys.first { !elsewhere.contains($0) } }

  /// Takes a slot for a background revalidation without waiting, if one is free.
  mutating func begin(_ subject: Subject) -> Bool {
    guard underWay[subject] == nil, underWay.count - elsewhere.count < Self.backgroundLimit else { return false }
    underWay[subject] = []
    return true
  }

  /// Takes a slot, or a ticket whose signal is finished when it leaves the queue.
  mutating func acquire(_ subject: Subject, _ signal: Signal) -> (result: SlotResult, ticket: Ticket?) {
    if underWay[subject] != nil { return (.underWay, nil) }
    guard underWay.count >= Self.overdueLimit else {
      underWay[subject] = []
      return (.begun, nil)
    }
    queue[next] = Waiting(subject: subject, signal: signal)
    next += 1
    return (.none, next - 1)
  }

  /// Returns the result of a ticket, and removes it from the queue. Required for every ticket, so that no slot leaks.
  mutating func collect(_ ticket: Ticket) -> SlotResult {
    if let result = assigned.removeValue(forKey: ticket) { return result }
    queue[ticket] = nil
    return .none
  }

  /// Waits for a revalidation that is under way; false if none is.
  mutating func wait(for subject: Subject, _ signal: Signal) -> Bool {
    guard underWay[subject] != nil else { return false }
    underWay[subject]?.append(signal)
    return true
  }

  /// Notes whether a revalidation that is under way waits for the result of another process.
  mutating func note(_ subject: Subject, waitsElsewhere: Bool) {
    guard underWay[subject] != nil else { return }
    if waitsElsewhere { elsewhere.insert(subject) } else { elsewhere.remove(subject) }
  }

  /// Frees the slot of an account.
  /// - Returns: the signals to finish: of those that waited for it, and of those that have a slot now.
  mutating func end(_ subject: Subject) -> [Signal] {
    var signals = underWay.removeValue(forKey: subject) ?? []
    elsewhere.remove(subject)
    while first < next, underWay.count < Self.overdueLimit {
      if let waiting = queue.removeValue(forKey: first) {
        assigned[first] = underWay[waiting.subject] == nil ? .begun : .underWay
        if underWay[waiting.subject] == nil { underWay[waiting.subject] = [] }
        signals.append(waiting.signal)
      }
      first += 1
    }
    return signals
  }
}
