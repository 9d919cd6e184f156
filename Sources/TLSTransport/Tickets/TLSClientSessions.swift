import COpenSSL

/// The latest session ticket of a server, so that the next connection to it needs no full handshake: for one server,
/// under one name and with one context, on one event loop.
///
/// A session is reused until a new one arrives. RFC 8446, appendix C.4, advises against that because it makes a client
/// recognizable, which does not matter for a gateway.
package final class TLSClientSessions {
  private var latest: Session?
  private let now: () -> Int64

  /// An empty store that measures ages by the system's clock: the first connection makes a full handshake.
  package convenience init() {
    self.init(now: { SystemClock.now() })
  }

  /// - Parameter now: the time in seconds since 1970.
  init(now: @escaping () -> Int64) {
    self.now = now
  }

  /// Whether there is a session to resume: false before the first, and two hours after the server's certificate was
  /// last verified.
  package var hasSession: Bool { usable != nil }

  /// The owner of an `SSL_SESSION`.
  fileprivate final class Session {
    let pointer: OpaquePointer
    /// The time when the server's certificate was verified, in seconds since 1970.
    let verified: Int64

    init(owning pointer: OpaquePointer, verified: Int64) {
      self.pointer = pointer
      self.verified = verified
    }

    deinit { SSL_SESSION_free(pointer) }
  }

  /// The age up to which sessions are resumed, in seconds: two hours.
  private static let ageLimit: Int64 = 7_200

  /// The latest session unless it is too old. OpenSSL does not look at the age of a session of TLS 1.2, and each ticket
  /// of TLS 1.3 begins a new one: the server's certificate, which resumed connections do not show, would never be
  /// verified again.
  private var usable: Session? {
    guard let latest, SSL_SESSION_is_resumable(latest.pointer) == 1,
      (0...Self.ageLimit).contains(now() - latest.verified)
    else { return nil }
    return latest
  }

  /// The part of one connection, whose tickets may come at any time.
  final class Attachment {
    fileprivate let sessions: TLSClientSessions
    private let began: Int64
    fileprivate let offered: Session?

    fileprivate init(_ sessions: TLSClientSessions, offered: Session?) {
      self.sessions = sessions
      began = sessions.now()
      self.offered = offered
    }

    /// Stores the session of a new ticket. It is as old as the session that the connection has resumed, or as the
    /// connection.
    /// - Returns: whether it is stored, with the caller's reference.
    fileprivate func store(_ session: OpaquePointer, isResumed: Bool) -> Bool {
      guard let verified = isResumed ? offered?.verified : began else { return false }
      sessions.latest = Session(owning: session, verified: verified)
      return true
    }
  }

  /// Makes a context pass on new sessions; OpenSSL caches none itself.
  static func install(in context: OpenSSLContext) {
    _ = cordon_SSL_CTX_set_session_cache_mode(
      context.pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
    SSL_CTX_sess_set_new_cb(context.pointer) { ssl, session in
      guard let ssl, let session, let data = SSL_get_ex_data(ssl, TLSClientSessions.slot) else { return 0 }
      let attachment = Unmanaged<Attachment>.fromOpaque(data).takeUnretainedValue()
      // After 1 the reference is ours.
      return attachment.store(session, isResumed: SSL_session_reused(ssl) == 1) ? 1 : 0
    }
  }

  /// Makes a connection resume the latest session, and stores its new ones.
  /// - Returns: must outlive the `SSL`, which refers to it.
  func attach(to ssl: OpaquePointer) -> Attachment {
    let offered = usable.flatMap { SSL_set_session(ssl, $0.pointer) == 1 ? $0 : nil }
    let attachment = Attachment(self, offered: offered)
    _ = SSL_set_ex_data(ssl, Self.slot, Unmanaged.passUnretained(attachment).toOpaque())
    return attachment
  }

  /// The slot of an `SSL` that belongs to the application (SSL_set_app_data).
  private static let slot: Int32 = 0
}
