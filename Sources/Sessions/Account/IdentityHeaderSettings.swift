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

  /// Headers that single upstreams get in addition. Default: none.
  package var upstreams: [UpstreamHeaderSettings] = []
  /// Names that clients may send although they are removed by default. Default: none.
  package var keptHeaders: [String] = []

  /// The defaults.
  package init() {}

  /// One header and its value.
  package struct Header: Sendable, Equatable {
    /// The header's name.
    package var name: String
    /// Its value.
    package var value: Value

    /// A header that carries a claim.
    package init(name: String, claim: String) {
      self.name = name
      value = .claim(claim)
    }

    /// A header that carries text with claims in it.
    package init(name: String, template: HeaderTemplate) {
      self.name = name
      value = .template(template)
    }

    /// The value as it is written.
    package var source: String {
      switch value {
      case .claim(let claim): claim
      case .template(let template): template.source
      }
    }

    /// The names of the claims in it.
    package var claims: [String] {
      switch value {
      case .claim(let claim): [claim]
      case .template(let template): template.claims
      }
    }
  }

  /// The value of a header.
  package enum Value: Sendable, Equatable {
    /// A claim in the encoding of the settings.
    case claim(String)
    /// Text with claims in it.
    case template(HeaderTemplate)
  }

  /// The encoding of text outside of printable ASCII.
  package enum Encoding: String, Sendable, CaseIterable {
    /// Percent-encoded UTF-8 (RFC 3986, 2.1); `%` itself becomes `%25`.
    case percent
    /// The UTF-8 bytes as they are (obs-text of RFC 9110, 5.5); control characters are still percent-encoded.
    case utf8
  }
}
