internal import Cryptography
import FoundationEssentials
internal import Secrets
import WebFormats

/// The session cookie: a signed session identifier, verified before anything is looked up.
///
///     value = base64url( version | key identifier (4) | session identifier (16) | HMAC-SHA256 (32) )
///
/// The HMAC of version 1, for `public_url`, is over all that stands before it; that of version 2, for a `[[host]]`, is
/// also over the host's authority, which makes the cookie invalid on every other host.
///
/// 71 characters, always. The key is for this purpose only (`SessionKeyring`), the text has one form only
/// (`Base64URL`): a value that is truncated, extended, spelled differently or made for another purpose is invalid.
package enum SessionCookie {
  /// `Set-Cookie` attributes in addition to the value and `Max-Age`. Browsers take the `__Host-` prefix of the name
  /// only with `Secure`, `Path=/` and no `Domain`, and so no other host and no plain HTTP can plant it (RFC 6265bis
  /// 4.1.3.2). They count `http://localhost` as secure enough.
  package static let attributes = "Path=/; Secure; HttpOnly; SameSite=Lax"
  /// The length of the value, in bytes.
  package static let valueLength = 71

  /// The content of a verified cookie.
  package struct Verified: Sendable, Equatable {
    /// The session that the cookie names.
    package let identifier: SessionIdentifier
    /// False if an older key signed it: the cookie should be reissued.
    package let isSignedByCurrentKey: Bool
    /// The key that signed it.
    package let key: KeyIdentifier
  }

  static let version: UInt8 = 1
  static let hostVersion: UInt8 = 2
  static let signedLength = 1 + 4 + SessionIdentifier.byteCount
  static let length = signedLength + HMACSHA256.byteCount
}

extension SessionKeyring {
  /// The cookie's value for this session on a host, signed with the current key.
  package func signedCookie(for identifier: SessionIdentifier, on scope: CookieScope) -> String {
    var bytes: [UInt8] = [scope.version]
    bytes += keys[0].identifier.bytes
    bytes += identifier.bytes
    bytes += HMACSHA256.code(for: bytes + scope.authority, using: keys[0].cookie)
    return Base64URL.text(bytes)
  }

  /// The whole `Set-Cookie` of a session on a host.
  /// - Parameter maxAge: in seconds.
  package func setCookie(for identifier: SessionIdentifier, on scope: CookieScope, maxAge: Int64) -> String {
    "\(cookies.session)=\(signedCookie(for: identifier, on: scope)); \(SessionCookie.attributes); Max-Age=\(maxAge)"
  }

  /// Verifies the value of a session cookie on a host; nil for any value that we did not sign for that host.
  package func verifyCookie(_ value: [UInt8], on scope: CookieScope) -> SessionCookie.Verified? {
    verifyCookie(value.span.bytes, on: scope)
  }

  /// The same over bytes in place (`UnsafeRawBufferPointer.bytes`, `ByteBuffer.readableBytesSpan`), without a copy on
  /// the heap.
  package func verifyCookie(_ value: RawSpan, on scope: CookieScope) -> SessionCookie.Verified? {
    guard value.byteCount == SessionCookie.valueLength else { return nil }
    // The decoded value, and after it what its HMAC is over.
    let count = SessionCookie.length + SessionCookie.signedLength + scope.authority.count
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { buffer in
      var filled = 0
      let isCanonical = Base64URL.decode(value) { byte in
        buffer[filled] = byte
        filled += 1
      }
      guard isCanonical, filled == SessionCookie.length, buffer[0] == scope.version else { return nil }
      for offset in 0..<SessionCookie.signedLength { buffer[SessionCookie.length + offset] = buffer[offset] }
      let authority = SessionCookie.length + SessionCookie.signedLength
      for offset in scope.authority.indices { buffer[authority + offset] = scope.authority[offset] }
      return verify(UnsafeRawBufferPointer(buffer))
    }
  }

  /// Whether a value has the form of a session cookie's and names one of our secrets: whatever host it was signed for,
  /// and whether or not it is genuine. Such values must not be forwarded.
  package func isInOurForm(_ value: RawSpan) -> Bool {
    guard value.byteCount == SessionCookie.valueLength else { return false }
    return withUnsafeTemporaryAllocation(byteCount: SessionCookie.length, alignment: 8) { buffer in
      var filled = 0
      let isCanonical = Base64URL.decode(value) { byte in
        if filled < SessionCookie.length { buffer[filled] = byte }
        filled += 1
      }
      guard isCanonical, filled == SessionCookie.length,
        buffer[0] == SessionCookie.version || buffer[0] == SessionCookie.hostVersion
      else { return false }
      let key = KeyIdentifier(bigEndian: UnsafeRawBufferPointer(rebasing: buffer[1..<5]))
      return keys.contains { $0.identifier == key }
    }
  }

  /// - Parameter decoded: the decoded value, and after it what its HMAC is over.
  private func verify(_ decoded: UnsafeRawBufferPointer) -> SessionCookie.Verified? {
    let code = UnsafeRawBufferPointer(rebasing: decoded[SessionCookie.signedLength..<SessionCookie.length])
    let signed = UnsafeRawBufferPointer(rebasing: decoded[SessionCookie.length...])
    let key = KeyIdentifier(bigEndian: UnsafeRawBufferPointer(rebasing: decoded[1..<5]))
    for (index, candidate) in keys.enumerated() where candidate.identifier == key {
      guard ConstantTime.equal(HMACSHA256.code(for: signed, using: candidate.cookie), code) else { continue }
      let identifier = SessionIdentifier(
        high: UInt64(bigEndian: decoded.loadUnaligned(fromByteOffset: 5, as: UInt64.self)),
        low: UInt64(bigEndian: decoded.loadUnaligned(fromByteOffset: 13, as: UInt64.self)))
      return SessionCookie.Verified(identifier: identifier, isSignedByCurrentKey: index == 0, key: key)
    }
    return nil
  }
}
