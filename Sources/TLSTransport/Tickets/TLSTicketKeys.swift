import COpenSSL

/// The keys of a server's session tickets: the first encrypts, all of them decrypt.
///
/// A value that does not change: contexts with other keys are other contexts (``TLSServerContext/with(_:)``), so that
/// no handshake takes a lock.
package struct TLSTicketKeys: Sendable {
  let keys: [TicketKey]

  /// Keys in files of 80 or 48 random bytes, the layout of nginx's `ssl_session_ticket_key`; the same files on several
  /// machines let sessions that began on one be resumed on another.
  ///
  /// - Throws: ``TLSConfigurationError`` when one cannot be read, has another length, or can be read by others.
  package init(files: [String]) throws(TLSConfigurationError) {
    var keys: [TicketKey] = []
    for file in files { keys.append(try TicketKey(file: file)) }
    self.keys = keys
  }

  /// A random key, in memory only.
  package static func random() throws(TLSConfigurationError) -> TLSTicketKeys {
    TLSTicketKeys(keys: [try TicketKey()])
  }

  /// Rotated keys: a new random key, and the current one for tickets that are still valid. If the interval is longer
  /// than ``TLSServerContext/ticketLifetime``, every ticket is accepted for its whole lifetime.
  package func rotated() throws(TLSConfigurationError) -> TLSTicketKeys {
    TLSTicketKeys(keys: [try TicketKey()] + keys.prefix(1))
  }

  private init(keys: [TicketKey]) { self.keys = keys }
}

/// The keys for OpenSSL's callbacks, which refer to them by an unretained pointer that the context's owner keeps valid.
final class TicketKeyRing: Sendable {
  private let keys: [TicketKey]
  private let now: @Sendable () -> Int64

  /// - Parameter now: the time in seconds since 1970.
  init(_ keys: TLSTicketKeys, now: @escaping @Sendable () -> Int64) {
    self.keys = keys.keys
    self.now = now
  }

  /// Makes a context use these keys for its tickets, and limits the time for which a session can be resumed. The ring
  /// must outlive every connection of the context.
  func install(in context: OpenSSLContext) throws(TLSConfigurationError) {
    try context.require(
      SSL_CTX_set_ex_data(context.pointer, Self.slot, Unmanaged.passUnretained(self).toOpaque()) == 1)
    try context.require(
      SSL_CTX_set_tlsext_ticket_key_evp_cb(context.pointer) { ssl, name, vector, cipher, mac, encrypts in
        // All contexts of one server share the ring, whichever was selected by SNI.
        guard let ssl, let name, let vector, let cipher, let mac,
          let data = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), TicketKeyRing.slot)
        else { return -1 }
        let ring = Unmanaged<TicketKeyRing>.fromOpaque(data).takeUnretainedValue()
        guard encrypts == 0 else { return ring.seal(name, vector, cipher, mac) }
        return ring.open(name, vector, cipher, mac, isTLS13: SSL_version(ssl) == TLS1_3_VERSION)
      } == 1)
    try context.require(
      SSL_CTX_set_session_ticket_cb(
        context.pointer,
        { ssl, argument in
          guard let ssl, let argument, let session = SSL_get_session(ssl) else { return 0 }
          return Unmanaged<TicketKeyRing>.fromOpaque(argument).takeUnretainedValue().mark(session) ? 1 : 0
        },
        { _, session, _, _, status, argument in
          guard let argument else { return SSL_TICKET_RETURN_ABORT }
          return Unmanaged<TicketKeyRing>.fromOpaque(argument).takeUnretainedValue().judge(session, status)
        }, Unmanaged.passUnretained(self).toOpaque()) == 1)
  }

  /// The slot of an `SSL_CTX` that belongs to the application (SSL_CTX_set_app_data).
  private static let slot: Int32 = 0

  /// - Returns: what SSL_CTX_set_tlsext_ticket_key_evp_cb(3) asks for: 1, or -1 for a failure.
  private func seal(
    _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
    _ mac: OpaquePointer
  ) -> Int32 {
    guard let key = keys.first, RAND_bytes(vector, 16) == 1,
      key.apply(to: cipher, mac, initializationVector: vector, encrypts: true)
    else { return -1 }
    UnsafeMutableRawPointer(name).copyMemory(from: key.name.baseAddress!, byteCount: TicketKey.nameLength)
    return 1
  }

  /// - Returns: 0 for a ticket of another key (a full handshake follows), 1, 2 where the client gets a new ticket.
  private func open(
    _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
    _ mac: OpaquePointer, isTLS13: Bool
  ) -> Int32 {
    let wanted = UnsafeRawBufferPointer(start: name, count: TicketKey.nameLength)
    guard let index = keys.firstIndex(where: { $0.name.elementsEqual(wanted) }) else { return 0 }
    guard keys[index].apply(to: cipher, mac, initializationVector: vector, encrypts: false) else { return -1 }
    // RFC 8446, appendix C.4: a ticket of TLS 1.3 is to be used once, so a client needs another.
    return isTLS13 || index > 0 ? 2 : 1
  }

  /// Adds the time of the handshake to a session that gets a ticket. A resumed session has that of the full one.
  /// - Returns: false when OpenSSL has no memory.
  private func mark(_ session: OpaquePointer) -> Bool {
    TicketOrigin(of: session) != nil || TicketOrigin(seconds: now()).write(to: session)
  }

  /// - Parameter session: the decrypted session; nil if the ticket was not decrypted.
  /// - Returns: what SSL_CTX_set_session_ticket_cb(3) asks for. A full handshake follows, with a new ticket, if the
  ///   session is too old.
  private func judge(_ session: OpaquePointer?, _ status: SSL_TICKET_STATUS) -> SSL_TICKET_RETURN {
    guard status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW, let session,
      let origin = TicketOrigin(of: session), origin.isUsable(at: now())
    else { return SSL_TICKET_RETURN_IGNORE_RENEW }
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
  }
}
