internal import DataPlane
internal import HTTPWire
internal import Sessions

/// What an older secret signed is given anew by the first answer that can carry it: the gateway's own, or the
/// application's unless a shared cache may keep that.
extension LoopGate {
  /// The whole `Set-Cookie` for a session whose cookie the first key did not sign; nil where it did.
  func renewedCookie(of entry: SessionCacheEntry, _ head: borrowing RequestHead, _ bytes: RawSpan) -> String? {
    if entry.isSignedByFirstKey { return nil }
    for place in head.ownCookies
    where place.value.count == SessionCookie.valueLength && bytes.equals("__Host-cordon", place.name) {
      guard let verified = knowledge.keyring.verifyCookie(bytes.extracting(place.value)), !verified.isSignedByFirstKey,
        verified.identifier.handle == entry.snapshot.session.handle
      else { continue }
      // The session ends when it would have ended: only the signature is new.
      let seconds = max((entry.endsAt - directory.clock()) / 1_000, 0)
      return "\(SessionCookie.name)=\(knowledge.keyring.signedCookie(for: verified.identifier)); "
        + "\(SessionCookie.attributes); Max-Age=\(seconds)"
    }
    return nil
  }

  /// The same as a field line, for the response of the application.
  func renewalLine(of entry: SessionCacheEntry, _ head: borrowing RequestHead, _ bytes: RawSpan) -> [UInt8]? {
    renewedCookie(of: entry, head, bytes).map { Array("Set-Cookie: \($0)\r\n".utf8) }
  }

  /// The token of an app whose token the first key did not sign; nil where it did.
  func renewedToken(of entry: SessionCacheEntry, _ head: borrowing RequestHead, _ bytes: RawSpan) -> String? {
    if entry.isSignedByFirstKey { return nil }
    for line in head.fields.lines where line.known == .authorization {
      guard let place = BearerToken.find(bytes, line.value),
        let verified = knowledge.keyring.verifyCookie(bytes.extracting(place)), !verified.isSignedByFirstKey,
        verified.identifier.handle == entry.snapshot.session.handle
      else { continue }
      return knowledge.keyring.signedCookie(for: verified.identifier)
    }
    return nil
  }
}
