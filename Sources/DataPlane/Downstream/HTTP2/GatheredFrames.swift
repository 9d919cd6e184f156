internal import NIOCore

/// Frames of a connection that leave with the others of the turn, in a buffer that its event loop has lent. The loan
/// ends when they are taken or discarded.
struct GatheredFrames {
  private var frames: ByteBuffer?

  /// Whether none are kept, nor a buffer for them.
  var isEmpty: Bool { frames == nil }

  /// Takes the buffer out to gather more in it, until ``keep(_:)``. Borrows one where there is none yet.
  /// - Returns: nil if the pool lends no more.
  @inline(__always)
  mutating func open(_ pool: inout BufferPool) -> ByteBuffer? { frames.take() ?? pool.lend() }

  @inline(__always)
  mutating func keep(_ buffer: consuming ByteBuffer) { frames = buffer }

  /// Takes what was gathered, or an empty buffer. Either is given back to the pool by the caller.
  @inline(__always)
  mutating func take(_ pool: inout BufferPool) -> ByteBuffer {
    guard let buffer = frames.take() else { return pool.take() }
    pool.endLoan()
    return buffer
  }

  /// Gives what was gathered back to the pool, unsent.
  mutating func discard(_ pool: inout BufferPool) {
    guard !isEmpty else { return }
    let frames = take(&pool)
    pool.give(frames)
  }
}
