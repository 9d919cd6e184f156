import COpenSSL

/// The latest session ticket of a server, so that the next connection to it needs no full handshake: for one server,
/// under one name and with one context, on one event loop.
///
/// A session is reused until a new one arrives. RFC 8446, appendix C.4, advises against that because it makes a client
/// recognizable, which does not matter for a gateway.
package final class TLSClientSessions {
  private var latest: Session?

  package init() {}

  /// Whether there is a session to resume: false before the first, and after it is too old.
  package var hasSession: Bool { usable != nil }

  /// The owner of an `SSL_SESSION`.
  private final class Session {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { SSL_SESSION_free(pointer) }
  }

  private var usable: Session? {
    guard let latest, SSL_SESSION_is_resumable(latest.pointer) == 1 else { return nil }
    return latest
  }

  /// Makes a context pass on new sessions; OpenSSL caches none itself.
  static func install(in context: OpenSSLContext) {
    _ = cordon_SSL_CTX_set_session_cache_mode(
      context.pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
    SSL_CTX_sess_set_new_cb(context.pointer) { ssl, session in
      guard let ssl, let session, let data = SSL_get_ex_data(ssl, TLSClientSessions.slot) else { return 0 }
      Unmanaged<TLSClientSessions>.fromOpaque(data).takeUnretainedValue().latest = Session(owning: session)
      // The reference is ours now.
      return 1
    }
  }

  /// Makes a connection resume the latest session, and stores its new ones. Must outlive the connection.
  func attach(to ssl: OpaquePointer) {
    _ = SSL_set_ex_data(ssl, Self.slot, Unmanaged.passUnretained(self).toOpaque())
    if let usable { _ = SSL_set_session(ssl, usable.pointer) }
  }

  /// The slot of an `SSL` that belongs to the application (SSL_set_app_data).
  private static let slot: Int32 = 0
}
