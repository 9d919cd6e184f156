internal import NIOCore

/// A receive buffer that the connections of a loop share: idle ones hold none, and the buffer stays warm in the
/// processor's cache.
///
/// It is reused as soon as no reader holds a part of it; otherwise the holder keeps it, and the next read takes a new
/// one.
struct SharedReadBuffer {
  /// Bytes of one read.
  let size: Int
  /// The buffer of the last read, once it was handed on.
  private var buffer: ByteBuffer?

  init(size: Int) { self.size = size }

  /// A buffer to read into.
  mutating func take(_ allocator: ByteBufferAllocator) -> ByteBuffer {
    if var buffer {
      self.buffer = nil
      if buffer.modifyIfUniquelyOwned({ $0.clear() }) != nil { return buffer }
    }
    return allocator.buffer(capacity: size)
  }

  /// Takes a buffer back that was read into: others may hold parts of it for as long as they like.
  mutating func give(_ buffer: ByteBuffer) {
    if buffer.storageCapacity == size { self.buffer = buffer }
  }
}

/// Reads of one channel into a buffer of its loop.
struct SharedReadAllocator: RecvByteBufferAllocator {
  let shared: NIOLoopBoundBox<SharedReadBuffer>
  /// Whether the channel has read nothing yet. It keeps its first receive buffer for as long as it lives, so that one
  /// is tiny; the rest of what has come is read next.
  private var isFirst: Bool

  /// Bytes of a channel's first read.
  static let firstRead = 16

  /// - Parameter isFirst: whether the channel has read nothing yet.
  init(_ shared: NIOLoopBoundBox<SharedReadBuffer>, isFirst: Bool) {
    self.shared = shared
    self.isFirst = isFirst
  }

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
    isFirst ? allocator.buffer(capacity: Self.firstRead) : shared.value.take(allocator)
  }

  /// Always another buffer: the channel is not to keep this one for itself.
  mutating func record(actualReadBytes: Int) -> Bool {
    isFirst = false
    return true
  }
}
