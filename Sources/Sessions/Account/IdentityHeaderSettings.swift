/// The identity headers that the upstream receives (`[identity.headers]` of the configuration).
package struct IdentityHeaderSettings: Sendable, Equatable {
  /// Header name as it is written upstream, and the claim that fills it, in the order of the configuration.
  package var headers: [Header] = [
    Header(name: "X-Forwarded-User", claim: "sub"), Header(name: "X-Forwarded-Email", claim: "email"),
    Header(name: "X-Forwarded-Name", claim: "name"),
  ]
  /// Whether an address that Apple has not verified may be sent and match rules. Default: false, because legacy
  /// applications take the address for the user's key.
  package var allowUnverifiedEmail = false
  /// The encoding of text outside of printable ASCII, and of `%`. Default: percent-encoded UTF-8.
  package var encoding: Encoding = .percent

  /// The defaults.
  package init() {}

  /// One header and its claim.
  package struct Header: Sendable, Equatable {
    /// The header's name.
    package var name: String
    /// The claim whose value it carries.
    package var claim: String

    /// A header that carries a claim.
    package init(name: String, claim: String) {
      self.name = name
      self.claim = claim
    }
  }

  /// The encoding of text outside of printable ASCII.
  package enum Encoding: String, Sendable, CaseIterable {
    /// Percent-encoded UTF-8 (RFC 3986 2.1); `%` itself becomes `%25`.
    case percent
    /// The UTF-8 bytes as they are (obs-text of RFC 9110 5.5); control characters are still percent-encoded.
    case utf8
  }
}
