internal import NIOCore

/// The size of a connection's reads.
///
/// Large reads are for bytes whose receiver takes everything at once: four system calls for a megabyte instead of
/// sixteen, and fewer turns of the loop. A receiver that falls behind ends them: the data queued for a slow one must
/// not be larger than necessary.
enum ReceiveBufferMode {
  /// Little: of a client that has sent nothing but heads so far.
  case frugal
  /// As much as came before, at most 64 KiB; of a client without TLS, ``worthLarge`` bytes.
  case usual
  /// As much as there is, at most ``largeRead``.
  case bulk
  /// For a receiver that has enough waiting for it: at most ``worthLarge`` bytes.
  case sparing

  /// A read of a frugal connection that brings so many bytes is worth larger ones.
  static let worthMore = 2_048
  /// A read that brings so many bytes is worth another, large one.
  static let worthLarge = 16 * 1024
  /// Bytes of a frugal read.
  static let smallRead = 4_096
  /// Bytes of a large read.
  static let largeRead = 256 * 1024

  /// The allocator of a connection that keeps its buffer, which large reads do not.
  func allocator(_ loop: LoopResources) -> any RecvByteBufferAllocator {
    switch self {
    case .bulk, .frugal: sharingAllocator(loop)
    case .usual: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: Self.worthLarge, maximum: 64 * 1024)
    case .sparing: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: Self.worthLarge, maximum: Self.worthLarge)
    }
  }

  /// The allocator of a connection that keeps no buffer.
  /// - Parameter isFirst: whether the connection has read nothing yet.
  func sharingAllocator(_ loop: LoopResources, isFirst: Bool = false) -> any RecvByteBufferAllocator {
    SharedReadAllocator(loop.reads.buffer(self), isFirst: isFirst)
  }
}

/// The buffers that the connections of a loop read into.
struct SharedReadBuffers {
  private let small: NIOLoopBoundBox<SharedReadBuffer>
  private let usual: NIOLoopBoundBox<SharedReadBuffer>
  private let large: NIOLoopBoundBox<SharedReadBuffer>

  init(_ eventLoop: any EventLoop) {
    func box(_ size: Int) -> NIOLoopBoundBox<SharedReadBuffer> {
      .makeBoxSendingValue(SharedReadBuffer(size: size), eventLoop: eventLoop)
    }
    small = box(ReceiveBufferMode.smallRead)
    usual = box(ReceiveBufferMode.worthLarge)
    large = box(ReceiveBufferMode.largeRead)
  }

  /// The buffer for reads in a mode.
  func buffer(_ mode: ReceiveBufferMode) -> NIOLoopBoundBox<SharedReadBuffer> {
    switch mode {
    case .frugal: small
    case .usual, .sparing: usual
    case .bulk: large
    }
  }

  /// A buffer for a read past the channel.
  func take(_ mode: ReceiveBufferMode) -> ByteBuffer { buffer(mode).value.take(ByteBufferAllocator()) }

  /// Takes a buffer back that was read into.
  @inline(__always)
  func give(_ buffer: ByteBuffer, _ mode: ReceiveBufferMode) { self.buffer(mode).value.give(buffer) }
}
