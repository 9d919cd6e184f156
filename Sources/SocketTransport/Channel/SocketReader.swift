package import NIOCore

/// The receiver of a socket's bytes where no handler is in between: it gets them without the channel's pipeline, and
/// asks for more by ``SocketChannel/read0()`` itself. Everything else comes to it as to any handler.
package protocol SocketReader: AnyObject {
  /// Bytes have come.
  func socketRead(_ bytes: consuming ByteBuffer)

  /// For now, those were all.
  func socketReadComplete()
}
