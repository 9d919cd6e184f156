internal import CNghttp2

/// Owns an `nghttp2_option`: the options of all server or client sessions.
final class HTTP2Options: Sendable {
  /// Only read once it is configured.
  nonisolated(unsafe) let pointer: OpaquePointer?

  static let server = HTTP2Options(validatesMessages: false)
  static let client = HTTP2Options(validatesMessages: true)

  /// - Parameter validatesMessages: whether nghttp2 looks at what RFC 9113, 8.1 to 8.5 ask of fields and lengths. Of
  ///   requests ``HTTP2HeadAssembly`` and ``HTTP2ServerSession`` do, in the course of writing them: to look twice
  ///   costs a twelfth of our own work for a request.
  private init(validatesMessages: Bool) {
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else {
      pointer = nil
      return
    }
    pointer = option
    // Windows grow as content is consumed, not as it arrives.
    nghttp2_option_set_no_auto_window_update(option, 1)
    // Streams that are over cost nothing: their place in a tree of priorities is of no use to us.
    nghttp2_option_set_no_closed_streams(option, 1)
    nghttp2_option_set_max_settings(option, 32)
    nghttp2_option_set_max_send_header_block_length(option, HTTP2Policy.sentSectionBytes)
    nghttp2_option_set_no_http_messaging(option, validatesMessages ? 0 : 1)
    // HTTP2HeadAssembly drops such white space: applications send it in the trailers of gRPC.
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
  }

  deinit { nghttp2_option_del(pointer) }
}
