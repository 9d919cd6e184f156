internal import Sessions

/// The accounts that this process is checking, and the overdue ones that wait for a place, in the order in which they
/// came. A value: `Revalidator` guards it, and finishes the continuations that it hands out.
struct RevalidationSlots {
  typealias Signal = AsyncStream<Never>.Continuation

  /// What an overdue account found.
  enum Place: Equatable {
    /// A place was taken: whoever got it makes the check.
    case begun
    /// Somebody else makes the check.
    case underWay
    /// All places were taken for as long as it could wait.
    case none
  }

  /// An overdue account's number in the line.
  typealias Ticket = Int

  private struct Waiting {
    let subject: Subject
    let signal: Signal
  }

  /// Most checks that are begun beside a request: Apple is asked steadily, not in floods.
  static let most = 64
  /// Most checks under way where somebody waits for them.
  static let mostOverdue = 1_024

  /// Accounts being checked, and who waits for each.
  private var underWay: [Subject: [Signal]] = [:]
  private var line: [Ticket: Waiting] = [:]
  /// The line begins here, and ends before `next`; tickets in between may have been given up.
  private var first: Ticket = 0
  private var next: Ticket = 0
  /// What became of tickets that were called and are not collected yet.
  private var called: [Ticket: Place] = [:]

  /// Takes a place without waiting, where one of the few for checks beside requests is free.
  mutating func begin(_ subject: Subject) -> Bool {
    guard underWay[subject] == nil, underWay.count < Self.most else { return false }
    underWay[subject] = []
    return true
  }

  /// Takes a place, or a ticket whose signal is given when it is called.
  mutating func enter(_ subject: Subject, _ signal: Signal) -> (place: Place, ticket: Ticket?) {
    if underWay[subject] != nil { return (.underWay, nil) }
    guard underWay.count >= Self.mostOverdue else {
      underWay[subject] = []
      return (.begun, nil)
    }
    line[next] = Waiting(subject: subject, signal: signal)
    next += 1
    return (.none, next - 1)
  }

  /// Hands a ticket in, called or not: no place is lost with it.
  mutating func leave(_ ticket: Ticket) -> Place {
    if let place = called.removeValue(forKey: ticket) { return place }
    line[ticket] = nil
    return .none
  }

  /// Waits for a check that is under way; false where there is none.
  mutating func wait(for subject: Subject, _ signal: Signal) -> Bool {
    guard underWay[subject] != nil else { return false }
    underWay[subject]?.append(signal)
    return true
  }

  /// A check is over.
  /// - Returns: the signals to give: of those who waited for it, and of those who have a place now.
  mutating func end(_ subject: Subject) -> [Signal] {
    var signals = underWay.removeValue(forKey: subject) ?? []
    while first < next, underWay.count < Self.mostOverdue {
      if let waiting = line.removeValue(forKey: first) {
        called[first] = underWay[waiting.subject] == nil ? .begun : .underWay
        if underWay[waiting.subject] == nil { underWay[waiting.subject] = [] }
        signals.append(waiting.signal)
      }
      first += 1
    }
    return signals
  }
}
