/// The changes of its socket that a channel asks its loop to report. Each step returns what the loop is asked for next,
/// and nil if that has not changed.
struct SocketInterest {
  /// Whether it is a Unix socket. These report room whenever the peer has read, not only when there had been none: they
  /// are asked for that only while something waits.
  private let isLocal: Bool
  /// The changes that are reported, or will be once the socket is registered.
  private var wanted: Readiness = []
  private(set) var isRegistered = false

  init(isLocal: Bool) { self.isLocal = isLocal }

  /// Wants `readiness` together with what was wanted before.
  /// - Returns: everything that the socket is to be registered for; ``registered()`` says that it was.
  mutating func beginning(with readiness: Readiness) -> Readiness {
    wanted.formUnion(readiness)
    return wanted.union(.edges)
  }

  /// The socket was registered: the loop is asked at once from now on.
  mutating func registered() { isRegistered = true }

  /// Bytes wait for room.
  /// - Returns: everything that is wanted from now on; nil where that has not changed, or is asked for later.
  @inline(__always)
  mutating func roomIsWanted() -> Readiness? { change(to: wanted.union(.output)) }

  /// Nothing waits for room.
  /// - Returns: as ``roomIsWanted()``.
  @inline(__always)
  mutating func allHasLeft() -> Readiness? { isLocal ? change(to: wanted.subtracting(.output)) : nil }

  private mutating func change(to readiness: Readiness) -> Readiness? {
    guard readiness != wanted else { return nil }
    wanted = readiness
    return isRegistered ? readiness.union(.edges) : nil
  }
}
