import COpenSSL

/// One entry of OpenSSL's error queue.
struct OpenSSLError: Sendable, Equatable {
  /// The part of OpenSSL that reports the error, `ERR_LIB_…`.
  let library: Int32
  /// The reason, `SSL_R_…` and the like.
  let reason: Int32
  /// The reason in OpenSSL's words: a constant of the library, never something that a peer sent.
  let text: String
}

/// OpenSSL's error queue of this thread. It is cleared before every call and after a failure, because errors of an
/// earlier call would be taken for the reason of the next failure (also by `SSL_get_error`).
enum OpenSSLErrorQueue {
  static func clear() {
    ERR_clear_error()
  }

  /// Removes all entries from the queue, the oldest (the root cause) first.
  static func drain() -> [OpenSSLError] {
    var errors: [OpenSSLError] = []
    while true {
      let code = ERR_get_error()
      guard code != 0 else { return errors }
      let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
      errors.append(OpenSSLError(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text))
    }
  }

  /// Removes all entries from the queue, and returns them as text.
  static func drainText() -> String {
    let errors = drain()
    return errors.isEmpty ? "OpenSSL gives no reason" : errors.map(\.text).joined(separator: "; ")
  }
}
