internal import CNghttp2

/// The owner of an `nghttp2_session_callbacks`: how C calls the session, whose address it hands back each time.
final class HTTP2Callbacks: Sendable {
  /// Only read once it is configured.
  nonisolated(unsafe) let pointer: OpaquePointer?

  static let ours = HTTP2Callbacks()

  /// Asks the session behind nghttp2's `user_data`, which owns nghttp2's: it cannot be gone, and need not be retained
  /// for each field.
  @inline(__always)
  static func ask<Answer>(_ user: UnsafeMutableRawPointer, _ body: (HTTP2Session) -> Answer) -> Answer {
    Unmanaged<HTTP2Session>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
  }

  private init() {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0 else {
      pointer = nil
      return
    }
    pointer = callbacks
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.began(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.beganSection(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) {
        $0.receivedField(
          UnsafeRawBufferPointer(start: name, count: nameCount), UnsafeRawBufferPointer(start: value, count: valueCount)
        )
      }
    }
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.receivedInvalidField() }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.receivedContent(of: id, UnsafeRawBufferPointer(start: bytes, count: count)) }
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.received(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.receivedInvalid(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.sent(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.couldNotSend(frame.pointee, error) }
    }
    nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, head, count, _, user in
      guard let frame, let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) {
        $0.writeContent(
          of: frame.pointee.hd.stream_id, head: UnsafeRawBufferPointer(start: head, count: 9), count: count)
      }
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, user in
      guard let user else { return HTTP2Callbacks.failure }
      return HTTP2Callbacks.ask(user) { $0.closedStream(id, code) }
    }
  }

  deinit { nghttp2_session_callbacks_del(pointer) }

  private static let failure = Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
}
