internal import NIOCore

/// The output of a channel: whether more may be written, who waits for its end, and whether sending has failed. The
/// bytes that wait are those of ``PendingWrites``.
struct OutputState {
  /// The time of an end that was asked for.
  enum End {
    /// It follows what waits: ``takeEnd()`` returns it then.
    case later
    /// Nothing waits: it is for the caller to end the output.
    case now
    /// The output has ended before.
    case past
  }

  private enum Phase {
    case open
    /// The end follows what waits.
    /// - Parameter promises: completed with the end.
    case ending([EventLoopPromise<Void>])
    case ended
  }

  private var phase = Phase.open
  /// The error that sending has met; reported when what the peer had sent before was read.
  private(set) var failure: IOError?

  /// Whether more may be written.
  var isOpen: Bool { if case .open = phase { true } else { false } }
  var hasEnded: Bool { if case .ended = phase { true } else { false } }

  /// Notes the error that sending has met.
  /// - Returns: whether it is the first.
  mutating func fail(_ error: IOError) -> Bool {
    guard failure == nil else { return false }
    failure = error
    return true
  }

  /// Ends the output, behind what waits.
  /// - Parameters:
  ///   - isDrained: whether nothing waits.
  ///   - promise: kept where the end comes later.
  mutating func end(isDrained: Bool, _ promise: EventLoopPromise<Void>?) -> End {
    switch phase {
    case .open where isDrained:
      phase = .ended
      return .now
    case .open:
      phase = .ending(promise.map { [$0] } ?? [])
      return .later
    case .ending(let promises):
      phase = .ending(promises + (promise.map { [$0] } ?? []))
      return .later
    case .ended: return .past
    }
  }

  /// Takes the end that follows what waits, once nothing does.
  /// - Returns: the promises to complete with it; nil if no end was asked for, or it has come.
  @inline(__always)
  mutating func takeEnd() -> [EventLoopPromise<Void>]? {
    guard case .ending(let promises) = phase else { return nil }
    phase = .ended
    return promises
  }

  /// Ends the output without what waits.
  /// - Returns: the promises of an end that was to follow it.
  mutating func close() -> [EventLoopPromise<Void>] {
    defer { phase = .ended }
    return takeEnd() ?? []
  }
}
