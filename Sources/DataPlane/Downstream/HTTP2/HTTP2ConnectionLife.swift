internal import HTTPWire
internal import NIOCore

/// The life of an HTTP/2 client connection from its first request to its end, and the purpose of its one deadline.
///
/// Performs no I/O and reads no clock: the connection reports events and does what they return.
struct HTTP2ConnectionLife {
  /// The progress of the connection, from the client's view.
  enum Stage {
    /// No request has come.
    case new
    case serving
    /// The shutdown was announced to the client (GOAWAY).
    case draining
    case closed
  }

  /// The purpose of the deadline.
  enum Wait {
    case nothing
    /// The first request, or the rest of a head.
    case head
    /// Another request, for a moment with all memory kept.
    case pausing
    /// Another request, with as little memory as possible.
    case idle
    /// A client that does not read.
    case write
    /// The client's acknowledgement of the shutdown (PING).
    case farewell
    /// The end of the client's output, after ours.
    case lingering
  }

  /// The traffic of a connection that decides what it waits for.
  struct Traffic {
    /// Whether the channel takes more.
    var isWritable: Bool
    /// Whether a head has begun to arrive.
    var isWithinHead: Bool
    var hasStreams: Bool
  }

  /// A change of the deadline.
  enum Deadline: Equatable {
    case disarmed
    case after(TimeAmount)
  }

  /// The consequence of a deadline that has passed.
  enum Expiry: Equatable {
    case nothing
    /// Release memory, and wait further for the next request.
    case shrink(thenAfter: TimeAmount)
    case terminate(HTTP2ErrorCode)
    case goAway
    case abort
  }

  private(set) var stage = Stage.new
  private(set) var wait = Wait.nothing

  /// The time for which an idle connection keeps the memory that one in use needs: most have the next request sooner.
  static let pause = TimeAmount.seconds(1)
  static let farewell = TimeAmount.seconds(1)

  var isClosed: Bool { stage == .closed }
  var isLingering: Bool { wait == .lingering }

  mutating func beginServing() {
    if stage == .new { stage = .serving }
  }

  /// Begins the graceful shutdown.
  /// - Returns: whether it had not begun yet.
  mutating func drain() -> Bool {
    guard stage == .new || stage == .serving else { return false }
    stage = .draining
    return true
  }

  /// Waits for the end of the client's output from now on, whatever else happens.
  /// - Returns: whether that had not begun yet.
  mutating func linger() -> Bool {
    guard wait != .lingering else { return false }
    wait = .lingering
    return true
  }

  /// - Returns: whether the connection had not closed yet.
  mutating func close() -> Bool {
    guard stage != .closed else { return false }
    stage = .closed
    return true
  }

  /// The channel takes more again: the client reads.
  mutating func becameWritable() {
    if wait == .write { wait = .nothing }
  }

  /// Decides what to wait for.
  /// - Returns: the new deadline; nil if the present one stays.
  mutating func update(_ traffic: Traffic, _ waits: ClientWaits) -> Deadline? {
    guard wait != .lingering, stage != .closed else { return nil }
    let wanted = purpose(of: traffic)
    // Other events do not restart a wait, of which ``Wait/idle`` is the second part.
    guard wanted != wait, wanted != .pausing || wait != .idle else { return nil }
    wait = wanted
    switch wanted {
    case .nothing, .lingering: return .disarmed
    case .head: return .after(waits.head)
    case .pausing where waits.idle > Self.pause: return .after(Self.pause)
    case .pausing, .idle:
      wait = .idle
      return .after(waits.idle)
    case .write: return .after(waits.writeProgress)
    case .farewell: return .after(Self.farewell)
    }
  }

  private func purpose(of traffic: Traffic) -> Wait {
    if !traffic.isWritable { return .write }
    if traffic.isWithinHead || stage == .new { return .head }
    if traffic.hasStreams { return .nothing }
    return stage == .draining ? .farewell : .pausing
  }

  /// The deadline has passed.
  /// - Parameter isWithinHead: whether a head has begun to arrive.
  mutating func timedOut(isWritable: Bool, isWithinHead: Bool = false, _ waits: ClientWaits) -> Expiry {
    switch wait {
    case .nothing: return .nothing
    case .pausing:
      wait = .idle
      return .shrink(thenAfter: max(waits.idle - Self.pause, .zero))
    case .idle: return .terminate(.noError)
    case .farewell: return .goAway
    // Browsers open connections ahead of need: without a request they are idle.
    case .head where isWritable: return .terminate(stage == .new && !isWithinHead ? .noError : .enhanceYourCalm)
    case .head, .write, .lingering: return .abort
    }
  }
}
