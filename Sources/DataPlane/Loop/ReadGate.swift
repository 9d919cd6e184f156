/// Withholds a channel's reads while there is no room for what they would bring, and remembers that one was asked for.
struct ReadGate {
  private enum State {
    case open
    /// - isDue: whether a read was asked for meanwhile.
    case held(isDue: Bool)
  }

  private var state = State.open

  var isHeld: Bool { if case .held = state { true } else { false } }

  /// Notes that a read is asked for.
  /// - Returns: whether it may go to the channel.
  mutating func read() -> Bool {
    guard isHeld else { return true }
    state = .held(isDue: true)
    return false
  }

  mutating func hold() { if !isHeld { state = .held(isDue: false) } }

  /// - Returns: whether a read that was withheld is to be made now.
  mutating func release() -> Bool {
    defer { state = .open }
    if case .held(isDue: true) = state { return true }
    return false
  }
}
