package import NIOCore

/// The size of a connection's reads.
package enum ReceiveBufferMode: Sendable {
  /// Little: of a client that has sent nothing but heads so far.
  case frugal
  /// As much as most messages have.
  case usual
  /// Several records of TLS or frames of HTTP/2, which handlers in between take apart.
  case wide
  /// As much as there is, for a receiver that takes everything at once.
  case bulk

  /// Bytes of a read.
  package var size: Int {
    switch self {
    case .frugal: 4 * 1024
    case .usual: 16 * 1024
    case .wide: 64 * 1024
    case .bulk: 256 * 1024
    }
  }
}

/// The buffers that the connections of a loop read into: idle ones hold none, and a buffer stays warm in the cache of
/// the processor.
///
/// A buffer is used again as soon as no reader holds a part of it; otherwise the holder keeps it, and the next read
/// takes a new one.
package struct ReceiveBuffers {
  private var frugal: ByteBuffer?
  private var usual: ByteBuffer?
  private var wide: ByteBuffer?
  private var bulk: ByteBuffer?
  private let allocator = ByteBufferAllocator()

  /// No buffers: each is allocated when it is taken first.
  package init() {}

  /// A buffer to read into.
  @inline(__always)
  package mutating func take(_ mode: ReceiveBufferMode) -> ByteBuffer {
    var kept: ByteBuffer?
    switch mode {
    case .frugal: swap(&kept, &frugal)
    case .usual: swap(&kept, &usual)
    case .wide: swap(&kept, &wide)
    case .bulk: swap(&kept, &bulk)
    }
    // Moved: the buffer has one owner, and a copy would be another.
    if kept?.modifyIfUniquelyOwned({ $0.clear() }) != nil, let buffer = consume kept { return buffer }
    return allocator.buffer(capacity: mode.size)
  }

  /// Takes a buffer back that was read into: others may hold parts of it for as long as they like.
  @inline(__always)
  package mutating func give(_ buffer: ByteBuffer, _ mode: ReceiveBufferMode) {
    guard buffer.storageCapacity == mode.size else { return }
    switch mode {
    case .frugal: frugal = buffer
    case .usual: usual = buffer
    case .wide: wide = buffer
    case .bulk: bulk = buffer
    }
  }
}
