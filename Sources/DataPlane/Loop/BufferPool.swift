internal import NIOCore

/// Buffers that are written into again and again on one event loop.
///
/// A buffer may be given back while the channel still holds its bytes: clearing a shared buffer takes new memory.
struct BufferPool {
  private var buffers: [ByteBuffer] = []
  private let allocator = ByteBufferAllocator()
  /// Bytes of a new buffer.
  private let size: Int
  /// A buffer that has grown beyond so many bytes is not kept.
  private let largest: Int
  /// Most buffers kept, and most lent.
  private let limit: Int
  /// Buffers that are lent.
  private var lent = 0

  /// Responses, and chunks in both directions. Any may have grown to the largest, which is what bounds their number.
  static var messages: BufferPool { BufferPool(size: 4_096, largest: 64 * 1024, limit: 32) }

  /// Heads for upstreams, one for each request under way, and HTTP/2 has many.
  static var heads: BufferPool { BufferPool(size: 2_048, largest: 4_096, limit: 256) }

  /// Buffers for the frames that HTTP/2 connections write: within a turn several have one, at its end one after the
  /// other.
  static var frames: BufferPool { BufferPool(size: 16 * 1024, largest: 64 * 1024, limit: 16) }

  private init(size: Int, largest: Int, limit: Int) {
    self.size = size
    self.largest = largest
    self.limit = limit
  }

  @inline(__always)
  mutating func take() -> ByteBuffer {
    guard var buffer = buffers.popLast() else { return allocator.buffer(capacity: size) }
    buffer.clear()
    return buffer
  }

  /// Takes a buffer to hold on to, until ``endLoan()``; nil where too many are held: they would need more memory than
  /// they save work.
  mutating func lend() -> ByteBuffer? {
    guard lent < limit else { return nil }
    lent += 1
    return take()
  }

  /// Counts a buffer that was lent as one that was taken.
  mutating func endLoan() { lent -= 1 }

  @inline(__always)
  mutating func give(_ buffer: consuming ByteBuffer) {
    if buffers.count < limit, buffer.capacity <= largest { buffers.append(buffer) }
  }
}
