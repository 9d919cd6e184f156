internal import NIOCore

/// Buffers that heads are written into, used again and again on one event loop.
///
/// A buffer may be given back while the channel still holds its bytes: clearing a shared buffer takes new memory.
struct BufferPool {
  private var buffers: [ByteBuffer] = []
  private let allocator = ByteBufferAllocator()

  /// Most buffers kept. Any of them may have grown to the largest: with as many as HTTP/2 has streams under way memory
  /// grows by MiB, and it is no faster.
  private static let limit = 32
  /// A larger buffer is not kept.
  private static let largest = 64 * 1024

  @inline(__always)
  mutating func take() -> ByteBuffer {
    guard var buffer = buffers.popLast() else { return allocator.buffer(capacity: 4_096) }
    buffer.clear()
    return buffer
  }

  @inline(__always)
  mutating func give(_ buffer: consuming ByteBuffer) {
    if buffers.count < Self.limit, buffer.capacity <= Self.largest { buffers.append(buffer) }
  }
}
