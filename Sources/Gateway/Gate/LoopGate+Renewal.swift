internal import DataPlane
internal import HTTPWire
internal import Sessions

/// Cookies that an older secret signed are set anew where an answer of our own can carry one: at `GET session`.
extension LoopGate {
  /// The whole `Set-Cookie` for a session whose cookie the first key did not sign; nil where it did.
  func renewedCookie(of entry: SessionEntry, _ head: borrowing RequestHead, _ bytes: RawSpan) -> String? {
    for place in head.ownCookies
    where place.value.count == SessionCookie.valueLength && bytes.equals("__Host-cordon", place.name) {
      guard let verified = knowledge.keyring.verifyCookie(bytes.extracting(place.value)), !verified.isSignedByFirstKey,
        verified.identifier.handle == entry.snapshot.session.handle
      else { continue }
      // The session ends when it would have ended: only the signature is new.
      let seconds = max((entry.endsAt - WallClock.now()) / 1_000, 0)
      return "\(SessionCookie.name)=\(knowledge.keyring.signedCookie(for: verified.identifier)); "
        + "\(SessionCookie.attributes); Max-Age=\(seconds)"
    }
    return nil
  }
}
