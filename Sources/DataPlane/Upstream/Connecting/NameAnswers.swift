internal import NIOCore

/// When a name is looked up, and whose answer is used meanwhile.
///
/// An answer is used for some seconds. Then the name is looked up again, by one lookup at a time: connections wait for
/// it for a moment, then use the old answer, which is kept until the resolver gives another. An unreachable or slow
/// resolver costs a running gateway a quarter of a second for each lookup.
struct NameAnswers {
  /// Advice to a connection that needs the addresses.
  enum Advice: Equatable {
    /// These are the addresses.
    case use([SocketAddress])
    /// Wait for the lookup, but no longer than this: then use these.
    case waitBriefly(TimeAmount, [SocketAddress])
    /// Wait for the lookup: nothing is known.
    case wait
  }

  private var known: [SocketAddress] = []
  /// When the last lookup ended, in whatever way.
  private var ended: NIODeadline?
  /// When the lookup under way began.
  private var began: NIODeadline?
  private var asked = 0

  /// Time for which an answer, or the lack of a new one, is used without another lookup.
  static let freshness = TimeAmount.seconds(5)
  /// Time that a connection waits for a lookup while there is an old answer.
  static let patience = TimeAmount.milliseconds(250)

  /// - Returns: what to do, and whether a lookup is to be begun.
  mutating func ask(at now: NIODeadline) -> (advice: Advice, begins: Bool) {
    if !known.isEmpty, let ended, now - ended < Self.freshness { return (.use(next()), false) }
    let begins = began == nil
    let began = began ?? now
    self.began = began
    if known.isEmpty { return (.wait, begins) }
    let left = Self.patience - (now - began)
    return (left > .zero ? .waitBriefly(left, next()) : .use(next()), begins)
  }

  /// Whether nothing is known and a lookup is under way, for which connections wait.
  var isAwaited: Bool { known.isEmpty && began != nil }

  /// Records the result of a lookup; an empty one is ignored.
  mutating func answered(_ addresses: [SocketAddress], at now: NIODeadline) {
    began = nil
    ended = now
    if !addresses.isEmpty { known = addresses }
  }

  /// The known addresses, rotated by one with each call, so that all of them are used.
  mutating func next() -> [SocketAddress] {
    guard known.count > 1 else { return known }
    asked = (asked + 1) % known.count
    return Array(known[asked...] + known[..<asked])
  }
}
