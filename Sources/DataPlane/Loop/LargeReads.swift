internal import NIOCore

/// Large reads of a response, for as long as its client takes everything at once: four system calls for a megabyte
/// instead of sixteen, and fewer turns of the loop.
///
/// All connections of a loop read into one buffer, which stays warm in the processor's cache. It is reused as soon as
/// no reader holds a part of it; otherwise the holder keeps it, and the next read takes a new one. That is why a client
/// that falls behind ends large reads: the data queued for a slow client must not be larger than necessary.
struct LargeReads {
  /// The buffer of the last such read, once it was handed on.
  private var buffer: ByteBuffer?

  /// A read that brings so many bytes is worth another, larger one.
  static let worthwhile = 16 * 1024
  /// Bytes of one read.
  static let readSize = 256 * 1024

  /// A buffer to read into.
  mutating func take(_ allocator: ByteBufferAllocator) -> ByteBuffer {
    if var buffer {
      self.buffer = nil
      if buffer.modifyIfUniquelyOwned({ $0.clear() }) != nil { return buffer }
    }
    return allocator.buffer(capacity: Self.readSize)
  }

  /// Takes a buffer back that was read into: others may hold parts of it for as long as they like.
  mutating func give(_ buffer: ByteBuffer) {
    if buffer.storageCapacity == Self.readSize { self.buffer = buffer }
  }
}

/// The size of a connection's reads.
enum ReceiveBufferMode {
  /// Little: of a client that has sent nothing but heads so far.
  case frugal
  /// As much as came before, at most 64 KiB.
  case usual
  /// As much as there is, at most ``LargeReads/readSize``.
  case bulk
  /// For a client that has enough waiting for it: at most 16 KiB.
  case sparing

  /// A read of a frugal connection that brings so many bytes is worth larger ones.
  static let worthMore = 2_048

  /// The allocator of a mode that needs no resource of a loop.
  var fixedAllocator: any RecvByteBufferAllocator {
    switch self {
    case .frugal: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2_048, maximum: 4_096)
    case .usual, .bulk:
      AdaptiveRecvByteBufferAllocator(minimum: 64, initial: LargeReads.worthwhile, maximum: 64 * 1024)
    case .sparing:
      AdaptiveRecvByteBufferAllocator(
        minimum: 64, initial: LargeReads.worthwhile, maximum: LargeReads.worthwhile)
    }
  }

  func allocator(_ loop: LoopResources) -> any RecvByteBufferAllocator {
    switch self {
    case .bulk: LargeReadAllocator(loop: NIOLoopBound(loop, eventLoop: loop.eventLoop))
    case .frugal, .usual, .sparing: fixedAllocator
    }
  }
}

private struct LargeReadAllocator: RecvByteBufferAllocator {
  let loop: NIOLoopBound<LoopResources>

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { loop.value.bulk.take(allocator) }

  /// Always another buffer: the channel is not to keep this one for itself.
  mutating func record(actualReadBytes: Int) -> Bool { true }
}
