/// The host that a session's credentials are for: a cookie, or a bearer token, of one host is worth nothing on another.
package struct CookieScope: Sendable, Hashable {
  /// The authority that is signed with the session's identifier; empty for `public_url`, whose cookie names no host.
  let authority: [UInt8]

  /// `public_url` and its aliases.
  package static let publicURL = CookieScope(authority: [])

  /// A `[[host]]`.
  /// - Parameter authority: the host in lower case, and its port if it is not the usual one, as browsers send it.
  package static func host(_ authority: String) -> CookieScope { CookieScope(authority: Array(authority.utf8)) }

  private init(authority: [UInt8]) { self.authority = authority }

  /// The version of the cookie's format.
  var version: UInt8 { authority.isEmpty ? SessionCookie.version : SessionCookie.hostVersion }
}
