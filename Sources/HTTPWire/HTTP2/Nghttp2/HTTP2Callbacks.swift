internal import CNghttp2

/// The owner of an `nghttp2_session_callbacks`: how C calls the session, whose address it hands back each time.
final class HTTP2Callbacks: Sendable {
  /// Only read once it is configured.
  nonisolated(unsafe) let pointer: OpaquePointer?

  static let server = HTTP2Callbacks(HTTP2ServerSession.register)
  static let client = HTTP2Callbacks(HTTP2ClientSession.register)

  /// The answer that ends a session.
  static let failure = Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)

  /// Asks the session behind nghttp2's `user_data`, which owns nghttp2's: it cannot be gone, and need not be retained
  /// for each field.
  @inline(__always)
  static func ask<Session: HTTP2Session, Answer>(
    _ user: UnsafeMutableRawPointer, _ body: (Session) -> Answer
  ) -> Answer {
    Unmanaged<Session>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
  }

  /// - Parameter register: registers the callbacks that one side has for itself; it is the side of every session that
  ///   is made with them.
  private init(_ register: (OpaquePointer) -> Void) {
    var made: OpaquePointer?
    guard nghttp2_session_callbacks_new(&made) == 0, let callbacks = made else {
      pointer = nil
      return
    }
    pointer = callbacks
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2Session) in
        session.receivedField(
          UnsafeRawBufferPointer(start: name, count: nameCount), UnsafeRawBufferPointer(start: value, count: valueCount)
        )
      }
    }
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2Session) in session.receivedInvalidField() }
    }
    register(callbacks)
  }

  deinit { nghttp2_session_callbacks_del(pointer) }
}

extension HTTP2ServerSession {
  /// Registers the callbacks of a server alone.
  static func register(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.began(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.beganSection(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in
        session.receivedContent(of: id, UnsafeRawBufferPointer(start: bytes, count: count))
      }
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.received(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.receivedInvalid(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.sent(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.couldNotSend(frame.pointee, error) }
    }
    nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, head, count, _, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in
        session.writeContent(
          of: frame.pointee.hd.stream_id, head: UnsafeRawBufferPointer(start: head, count: 9), count: count)
      }
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ServerSession) in session.closedStream(id, code) }
    }
  }
}

extension HTTP2ClientSession {
  /// Registers the callbacks of a client alone.
  static func register(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.began(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.beganSection(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in
        session.receivedContent(of: id, UnsafeRawBufferPointer(start: bytes, count: count))
      }
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.received(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.receivedInvalid(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.sent(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.couldNotSend(frame.pointee, error) }
    }
    nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, head, count, _, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in
        session.writeContent(
          of: frame.pointee.hd.stream_id, head: UnsafeRawBufferPointer(start: head, count: 9), count: count)
      }
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { (session: HTTP2ClientSession) in session.closedStream(id, code) }
    }
  }
}
