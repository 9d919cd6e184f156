internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The way of a request's head to the socket of its connection past the channel: most requests are nothing but a head,
/// and the channel's queue of writes costs more than all else that is done about one.
///
/// It is open while everything that was handed to the channel has left: else bytes would overtake others, and the
/// application would read another request than the gateway wrote. What the socket does not take goes through the
/// channel, and so does whatever comes behind it; an error is left for the channel to meet.
struct SocketShortcut {
  private var descriptor: CInt?
  /// What was handed to the channel, and how much of that is known to have left.
  private var written: UInt64 = 0
  private var left: UInt64 = 0

  /// Opens it where the channel is a socket's.
  ///
  /// - Parameter channel: one whose handlers change nothing of what is written.
  mutating func open(_ channel: any Channel) {
    descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable { (socket: NIOBSDSocket.Handle) in
      socket
    }
  }

  /// Closes it for good. To be called before the channel closes its socket, whose number may be another's then.
  mutating func close() { descriptor = nil }

  /// Whether everything that was handed to the channel is known to have left.
  var isClear: Bool { written == left }

  /// Something was handed to the channel.
  /// - Returns: what to tell ``hasLeft(_:)`` when it has left.
  @discardableResult
  mutating func hasWritten() -> UInt64 {
    written += 1
    return written
  }

  /// Everything up to this write has left.
  mutating func hasLeft(_ write: UInt64) { left = max(left, write) }

  /// Sends what the socket takes at once of `bytes`, and takes that out of it.
  /// - Returns: whether that was everything.
  func send(_ bytes: inout ByteBuffer) -> Bool {
    guard let descriptor, isClear else { return false }
    let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
    let count = bytes.withUnsafeReadableBytes {
      #if canImport(Glibc)
        Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
      #else
        Musl.send(descriptor, $0.baseAddress, $0.count, flags)
      #endif
    }
    if count > 0 { bytes.moveReaderIndex(forwardBy: count) }
    return bytes.readableBytes == 0
  }
}
