package import NIOCore

/// The receiver of a socket's bytes where no handler is in between: it gets them without the channel's pipeline.
/// Everything else comes to it as to any handler.
package protocol SocketReader: AnyObject {
  /// Bytes have come.
  func socketRead(_ bytes: consuming ByteBuffer)

  /// For now, those were all.
  /// - Returns: whether more is to be read. Otherwise nothing is until ``SocketChannel/read0()`` asks for it.
  func socketReadComplete() -> Bool
}
