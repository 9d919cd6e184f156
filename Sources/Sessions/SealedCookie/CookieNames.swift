internal import WebFormats

/// The names of the gateway's cookies, all of which follow from that of the session cookie, so that two gateways on one
/// host name do not disturb each other.
package struct CookieNames: Sendable, Equatable, CustomStringConvertible {
  /// The session cookie.
  package let session: String
  /// The same, to be compared with bytes.
  package let sessionBytes: [UInt8]
  /// The beginning of the names of sign-ins that are under way.
  package let attempts: String
  /// The beginning of the names of visits to the sign-in of `public_url`.
  package let visits: String
  /// The keyed hash of the account that signed in last.
  package let lastAccount: String
  /// A display name that a failed sign-in has left.
  package let displayName: String

  /// `__Host-cordon` and the names that begin with it.
  package static let standard = CookieNames(valid: "__Host-cordon")

  /// The longest name of a session cookie, in bytes.
  package static let limit = 64

  /// - Throws: the reason why a gateway cannot use the name.
  package init(session name: String) throws(CookieNameError) {
    if let problem = Self.problem(of: Array(name.utf8)) { throw problem }
    self.init(valid: name)
  }

  private init(valid name: String) {
    session = name
    sessionBytes = Array(name.utf8)
    attempts = name + "-attempt-"
    visits = name + "-visit-"
    lastAccount = name + "-last"
    displayName = name + "-name"
  }

  private static func problem(of name: [UInt8]) -> CookieNameError? {
    let prefix = Array("__Host-".utf8)
    guard name.starts(with: prefix), name.count > prefix.count, name.count <= limit else { return .form }
    guard name.allSatisfy(\.isToken) else { return .form }
    // Every gateway withholds the cookies of the standard name from its applications, recognized by the hyphen.
    let family = "__host-cordon".utf8
    if name.map(\.asciiLowercased).starts(with: family), !name.elementsEqual("__Host-cordon".utf8),
      !name.starts(with: "__Host-cordon-".utf8)
    {
      return .besideStandard
    }
    let parts = name.dropFirst(prefix.count).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let own = ["attempt", "visit", "last", "name"]
    guard !parts.contains(where: { part in own.contains { $0.utf8.elementsEqual(part.map(\.asciiLowercased)) } }) else {
      return .ofAnotherCookie
    }
    return nil
  }

  package var description: String { session }

  /// The `Set-Cookie` that removes the session cookie.
  package var sessionClearing: String { "\(session)=; \(SessionCookie.attributes); Max-Age=0" }
}

/// The reason why a gateway cannot use a name for its session cookie.
package enum CookieNameError: Error, Sendable, Equatable {
  /// It does not begin with `__Host-`, is too long, or has other characters than a token.
  case form
  /// It begins as the standard name does, without a hyphen after that.
  case besideStandard
  /// It may be the name of another cookie of a gateway: one for a sign-in, a visit, an account or a display name.
  case ofAnotherCookie
}
