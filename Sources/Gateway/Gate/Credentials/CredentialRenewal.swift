internal import HTTPWire
internal import Sessions

/// Issues cookies and tokens again that an older key signed, with the next response that can carry them: the gateway's
/// own, or the application's unless a shared cache may keep it.
enum CredentialRenewal {
  /// The whole `Set-Cookie` for a session whose cookie an older key signed; nil if the current key did.
  static func cookie(
    of entry: SessionCacheEntry, _ sessions: LoopSessions, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> String? {
    if entry.isSignedByCurrentKey { return nil }
    let keyring = sessions.configuration.keyring
    let name = keyring.cookies.sessionBytes
    for place in head.gatewayCookies where SessionCookie.isCandidate(place, bytes, named: name) {
      guard let verified = keyring.verifyCookie(bytes.extracting(place.value), on: entry.scope),
        !verified.isSignedByCurrentKey,
        verified.identifier.handle == entry.snapshot.session.handle
      else { continue }
      // The session ends when it would have ended: only the signature is new.
      let seconds = max((entry.endsAt - sessions.now) / 1_000, 0)
      return keyring.setCookie(for: verified.identifier, on: entry.scope, maxAge: seconds)
    }
    return nil
  }

  /// The same as a field line, for the response of the application.
  static func fieldLine(
    of entry: SessionCacheEntry, _ sessions: LoopSessions, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> [UInt8]? {
    cookie(of: entry, sessions, head, bytes).map { Array("Set-Cookie: \($0)\r\n".utf8) }
  }

  /// The bearer token of an app whose token an older key signed; nil if the current key did.
  static func token(
    of entry: SessionCacheEntry, _ sessions: LoopSessions, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> String? {
    if entry.isSignedByCurrentKey { return nil }
    let keyring = sessions.configuration.keyring
    for line in head.fields.lines where line.known == .authorization {
      guard let place = BearerToken.find(bytes, line.value),
        let verified = keyring.verifyCookie(bytes.extracting(place), on: entry.scope), !verified.isSignedByCurrentKey,
        verified.identifier.handle == entry.snapshot.session.handle
      else { continue }
      return keyring.signedCookie(for: verified.identifier, on: entry.scope)
    }
    return nil
  }
}
