internal import CNghttp2

/// The owner of an `nghttp2_option`: what all sessions of the process have in common.
final class HTTP2Options: Sendable {
  /// Only read once it is configured.
  nonisolated(unsafe) let pointer: OpaquePointer?

  static let ours = HTTP2Options()

  private init() {
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else {
      pointer = nil
      return
    }
    pointer = option
    // Windows grow as what came is taken, not as it comes.
    nghttp2_option_set_no_auto_window_update(option, 1)
    // Streams that are over cost nothing: their place in a tree of priorities is of no use to us.
    nghttp2_option_set_no_closed_streams(option, 1)
    nghttp2_option_set_max_settings(option, 32)
  }

  deinit { nghttp2_option_del(pointer) }
}
