internal import CNghttp2
internal import NIOCore

/// The part of the receiving callbacks that both sides have. Each callback returns 0, or an error that ends the
/// session.
extension HTTP2Session {
  func receivedField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int32 {
    hasMeaning = true
    assembly.append(name, value)
    guard assembly.byteCount <= policy.sectionBytes, assembly.fieldCount <= policy.sectionFields else {
      return enhanceYourCalm()
    }
    return 0
  }

  /// Refuses a malformed field, which nghttp2 would drop.
  func receivedInvalidField() -> Int32 {
    assembly.refuse("a malformed field")
    return 0
  }

  /// The part of the buffer being read that nghttp2 has found to be content: a slice is enough, no copy.
  func slice(_ bytes: UnsafeRawBufferPointer) -> ByteBuffer? {
    guard let start = bytes.baseAddress, let inputStart else { return nil }
    return input.getSlice(at: input.readerIndex + inputStart.distance(to: start), length: bytes.count)
  }

  /// Ends a connection that breaks the protocol.
  func breaksProtocol() -> Int32 {
    termination.demand(.protocolError)
    return HTTP2Callbacks.failure
  }

  /// Ends a connection that costs too much.
  func enhanceYourCalm() -> Int32 {
    termination.demand(.enhanceYourCalm)
    return HTTP2Callbacks.failure
  }

  /// GOAWAY was written: nghttp2 ends the connection of a peer that breaks the protocol of its own accord.
  func sentGoAway(_ code: UInt32) {
    guard code != HTTP2ErrorCode.noError.rawValue else { return }
    termination.demand(HTTP2ErrorCode(rawValue: code) ?? .protocolError)
  }

  /// A head could not be sent. Its stream is reset, so that it does not wait for ever.
  func couldNotSend(headOf stream: HTTP2Stream, _ error: Int32) {
    guard !stream.isReset else { return }
    switch error {
    case Int32(NGHTTP2_ERR_STREAM_CLOSED.rawValue), Int32(NGHTTP2_ERR_STREAM_CLOSING.rawValue): break
    default: reset(stream, .internalError)
    }
  }

  /// A stream was closed: nothing that waits on it is sent or consumed any longer.
  func retire(_ stream: HTTP2Stream) {
    stream.isClosed = true
    giveBack(stream)
    queuedBytes -= stream.queuedBytes
    stream.queue.removeAll()
  }

  /// Gives content of a closed stream that nobody will take back to the connection's window.
  private func giveBack(_ stream: HTTP2Stream) {
    guard let pointer, stream.untaken > 0 else { return }
    untakenBytes -= stream.untaken
    nghttp2_session_consume_connection(pointer, stream.untaken)
    stream.untaken = 0
  }
}
