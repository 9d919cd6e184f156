internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Sessions
internal import WebFormats

/// A pending display name: the name that Apple sent with a sign-in that failed before its owner was verified, sealed in
/// a cookie of the same browser for ten minutes.
///
/// Apple sends the name once. The next sign-in of this browser without a name uses it, if its user is the owner that
/// the failed one claimed and has no name yet. Several people may use one browser, so a name without a claimed owner is
/// not kept.
struct PendingDisplayName: Equatable {
  let name: PersonName
  let owner: Owner

  /// The owner that the failed sign-in claimed. Unverified: it only serves to withhold a name from others.
  enum Owner: Equatable {
    /// `sub` of the browser's identity token.
    case subject(String)
    /// The address that came with the name (`response_type = "code"`: there is no token yet).
    case address(String)

    /// The owner that an answer claims; nil if it does not say.
    init?(_ grant: AuthorizationResponse.Success) {
      if let token = grant.identityToken {
        guard let subject = token.claimedSubject else { return nil }
        self = .subject(subject)
      } else if let address = grant.user?.claimedEmail {
        self = .address(address)
      } else {
        return nil
      }
    }

    /// Whether a verified token is of this owner. An address counts only if Apple has verified it.
    func matches(_ token: VerifiedIdentityToken) -> Bool {
      switch self {
      case .subject(let subject): return subject.utf8.elementsEqual(token.subject.utf8)
      case .address(let address):
        guard token.claims.isEmailVerified == true, let verified = token.claims.email else { return false }
        return address.utf8.elementsEqual(verified.utf8)
      }
    }
  }

  // MARK: The cookie

  private static let context = Array("name".utf8)
  /// The same as of a sign-in state.
  private static let lifetime = Duration.milliseconds(SignInState.lifetime)

  /// given name | NUL | family name | NUL | `s` or `a` | subject or address. No part holds a control character.
  private var bytes: [UInt8] {
    let owner =
      switch owner {
      case .subject(let subject): "s" + subject
      case .address(let address): "a" + address
      }
    return Array("\(name.given ?? "")\0\(name.family ?? "")\0\(owner)".utf8)
  }

  init(_ name: PersonName, of owner: Owner) {
    self.name = name
    self.owner = owner
  }

  private init?(bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
    guard parts.count == 3, let kind = parts[2].first,
      let name = PersonName(
        given: String(decoding: parts[0], as: UTF8.self), family: String(decoding: parts[1], as: UTF8.self))
    else { return nil }
    let claimed = String(decoding: parts[2].dropFirst(), as: UTF8.self)
    switch kind {
    case UInt8(ascii: "s"): owner = .subject(claimed)
    case UInt8(ascii: "a"): owner = .address(claimed)
    default: return nil
    }
    self.name = name
  }

  /// The whole `Set-Cookie` that keeps the name.
  func setCookie(_ keyring: SessionKeyring, now: Date) throws(SealError) -> String {
    let value = try keyring.sealText(
      bytes, for: .attempt, context: Self.context, expires: now + Self.lifetime.timeInterval)
    let maxAge = Self.lifetime.components.seconds
    return "\(keyring.cookies.displayName)=\(value); \(SignInState.cookieAttributes); Max-Age=\(maxAge)"
  }

  /// The `Set-Cookie` that removes the cookie.
  static func clearCookie(_ names: CookieNames) -> String {
    "\(names.displayName)=; \(SignInState.cookieAttributes); Max-Age=0"
  }

  /// Whether the browser has one.
  static func isSent(with request: ControlRequest, _ names: CookieNames) -> Bool {
    RequestCookies(request.head.headerFields).first(names.displayName) != nil
  }

  /// The name in the request's cookie; nil without one, or if it has expired.
  static func open(in request: ControlRequest, _ keyring: SessionKeyring, now: Date) -> PendingDisplayName? {
    guard let value = RequestCookies(request.head.headerFields).first(keyring.cookies.displayName),
      let bytes = try? keyring.openText(Array(value.utf8), for: .attempt, context: context, now: now)
    else { return nil }
    return PendingDisplayName(bytes: bytes)
  }
}
