import COpenSSL

/// One entry of OpenSSL's error queue.
struct OpenSSLError: Sendable, Equatable {
  /// The part of OpenSSL that complains, `ERR_LIB_…`.
  let library: Int32
  /// The reason, `SSL_R_…` and the like.
  let reason: Int32
  /// The reason in OpenSSL's words: a constant of the library, never something that a peer sent.
  let text: String
}

/// OpenSSL's error queue of this thread. Errors of an earlier call would be taken for the reason of the next failure
/// (`SSL_get_error` looks at it too): so it is cleared before every call and emptied after a failure.
enum OpenSSLErrorQueue {
  static func clear() {
    ERR_clear_error()
  }

  /// Takes everything out of the queue, the oldest entry (the root of the trouble) first.
  static func drain() -> [OpenSSLError] {
    var errors: [OpenSSLError] = []
    while true {
      let code = ERR_get_error()
      guard code != 0 else { return errors }
      let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
      errors.append(OpenSSLError(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text))
    }
  }

  /// Takes everything out of the queue and puts it into words.
  static func drainText() -> String {
    let errors = self.drain()
    return errors.isEmpty ? "OpenSSL gives no reason" : errors.map(\.text).joined(separator: "; ")
  }
}
