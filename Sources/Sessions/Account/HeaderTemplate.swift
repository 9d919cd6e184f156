package import Secrets
internal import WebFormats

/// The value of a header with claims in it: `{email|local:example.com|lower}`, or text alone.
///
/// A value is rendered when a session is loaded, never for a request. If one of its claims cannot be sent, neither is
/// the header: half a value could name another user.
package struct HeaderTemplate: Sendable, Equatable {
  /// The template as it is written, with the names of environment variables instead of their values.
  package let source: String
  /// The parts that follow each other.
  package let parts: [Part]

  /// Creates a template of parts that follow each other.
  package init(source: String, parts: [Part]) {
    self.source = source
    self.parts = parts
  }

  /// A part of a value.
  package enum Part: Sendable, Equatable {
    /// Text, sent as it is; possibly the value of an environment variable.
    case text(TemplateText)
    /// A claim of the user.
    case claim(Claim)
  }

  /// A claim, with the filters and the encoding of its value.
  package struct Claim: Sendable, Equatable {
    /// The claim's name.
    package var name: String
    /// The filters, in order.
    package var filters: [Filter] = []
    /// Nil for the default of the header.
    package var encoding: Encoding?

    /// A claim as it is.
    package init(_ name: String) { self.name = name }
  }

  /// A change of a claim's value.
  package enum Filter: Sendable, Equatable {
    /// The part before the `@` of a verified address of this domain; no other address is sent.
    case local(domain: String)
    /// ASCII letters in lower case.
    case lower
    /// ASCII letters in upper case.
    case upper
  }

  /// The bytes of a value.
  package enum Encoding: String, Sendable, CaseIterable {
    /// Percent-encoded UTF-8, as in ``IdentityHeaderSettings/Encoding/percent``.
    case percent
    /// The UTF-8 bytes as they are.
    case utf8
    /// ISO 8859-1, for applications that know nothing else.
    case latin1

    /// The encoding of identity headers of the same name.
    init(_ encoding: IdentityHeaderSettings.Encoding) {
      switch encoding {
      case .percent: self = .percent
      case .utf8: self = .utf8
      }
    }
  }

  /// The names of the claims in it.
  package var claims: [String] {
    parts.compactMap { part in
      if case .claim(let claim) = part { claim.name } else { nil }
    }
  }

  /// The value.
  /// - Parameter encoding: of claims that do not state one.
  /// - Throws: ``HeaderOmissionError`` if a claim cannot be sent.
  package func render(_ claims: ClaimSource, encoding: Encoding) throws(HeaderOmissionError) -> [UInt8] {
    var value: [UInt8] = []
    for part in parts {
      switch part {
      case .text(let text): value += text.exposedBytes
      case .claim(let claim): value += try claim.render(claims, encoding: encoding)
      }
    }
    return value
  }

  /// The value of a template without claims; nil if it has some.
  package var constant: [UInt8]? {
    var value: [UInt8] = []
    for part in parts {
      guard case .text(let text) = part else { return nil }
      value += text.exposedBytes
    }
    return value
  }
}

extension SecretKind {
  /// Marks the text of a template.
  package enum TemplateText {}
}

/// Text of a template: possibly a password.
package typealias TemplateText = Secret<SecretKind.TemplateText>

/// The reason that a header is left out, in words for the log.
package enum HeaderOmissionError: Error, Equatable {
  /// The user does not have the claim.
  case absent(claim: String)
  /// The user has no verified address of the domain.
  case notLocal(domain: String)
  /// The claim contains CR, LF or NUL.
  case lineBreak(claim: String)
  /// The claim has characters that the encoding does not have.
  case notEncodable(claim: String, HeaderTemplate.Encoding)
  /// A colon in the user of Basic credentials would end it (RFC 7617, 2).
  case colonInUser
  /// Basic credentials have no control characters (RFC 7617, 2).
  case controlCharacter

  /// In words for the log.
  package var reason: String {
    switch self {
    case .absent(let claim): "the claim \(claim) is absent"
    case .notLocal(let domain): "there is no verified address of \(domain)"
    case .lineBreak(let claim): "the claim \(claim) contains a line break or NUL"
    case .notEncodable(let claim, let encoding): "the claim \(claim) cannot be encoded as \(encoding.rawValue)"
    case .colonInUser: "the user contains a colon"
    case .controlCharacter: "the credentials contain a control character"
    }
  }
}

extension HeaderTemplate.Claim {
  fileprivate func render(
    _ claims: ClaimSource, encoding defaultEncoding: HeaderTemplate.Encoding
  ) throws(HeaderOmissionError) -> [UInt8] {
    guard var text = claims.text(of: name) else { throw .absent(claim: name) }
    if text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) { throw .lineBreak(claim: name) }
    for filter in filters { text = try apply(filter, to: text, claims) }
    switch encoding ?? defaultEncoding {
    case .percent: return IdentityHeaders.encoded(text, .percent)
    case .utf8: return IdentityHeaders.encoded(text, .utf8)
    case .latin1:
      var bytes: [UInt8] = []
      for scalar in text.unicodeScalars {
        guard scalar.properties.generalCategory != .control, let byte = UInt8(exactly: scalar.value) else {
          throw .notEncodable(claim: name, .latin1)
        }
        bytes.append(byte)
      }
      // A field value has no white space at its ends (RFC 9110, 5.5), and this encoding has no other spelling for it.
      return Array(bytes.trimmingOptionalWhitespace)
    }
  }

  private func apply(
    _ filter: HeaderTemplate.Filter, to text: String, _ claims: ClaimSource
  ) throws(HeaderOmissionError) -> String {
    switch filter {
    case .lower: return String(decoding: text.utf8.map(\.asciiLowercased), as: UTF8.self)
    case .upper:
      return String(
        decoding: text.utf8.map { $0.isASCIILetter ? $0 & ~0x20 : $0 }, as: UTF8.self)
    case .local(let domain):
      // Exactly one `@`: another could be in a quoted local part, which servers read differently.
      let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
      guard claims.isEmailVerified, parts.count == 2, !parts[0].isEmpty,
        parts[1].elementsEqual(domain.utf8, by: { $0.asciiLowercased == $1.asciiLowercased })
      else { throw .notLocal(domain: domain) }
      return String(decoding: parts[0], as: UTF8.self)
    }
  }
}

/// HTTP Basic credentials for an upstream (RFC 7617).
package struct BasicCredentialsTemplate: Sendable, Equatable {
  /// The user.
  package var user: HeaderTemplate
  /// The password.
  package var password: HeaderTemplate

  /// Creates credentials of two templates.
  package init(user: HeaderTemplate, password: HeaderTemplate) {
    self.user = user
    self.password = password
  }

  /// Whether the literal text of the user has a colon, so that ``render(_:)`` fails for every account with
  /// ``HeaderOmissionError/colonInUser``.
  package var alwaysHasColonInUser: Bool {
    user.parts.contains { part in
      guard case .text(let text) = part else { return false }
      return text.exposedBytes.contains(UInt8(ascii: ":"))
    }
  }

  /// The value of `Authorization`. Claims are UTF-8 unless they state another encoding.
  /// - Throws: ``HeaderOmissionError`` if user or password cannot be sent.
  package func render(_ claims: ClaimSource) throws(HeaderOmissionError) -> [UInt8] {
    let user = try user.render(claims, encoding: .utf8)
    let password = try password.render(claims, encoding: .utf8)
    if user.contains(UInt8(ascii: ":")) { throw .colonInUser }
    let credentials = user + [UInt8(ascii: ":")] + password
    if credentials.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw .controlCharacter }
    return Array("Basic ".utf8) + Base64.encode(credentials)
  }
}

/// The claims of one session, as headers name them.
package struct ClaimSource: Sendable {
  private let account: Account
  private let session: Session
  private let groups: [String]
  private let allowsUnverifiedEmail: Bool

  /// - Parameter groups: the names of the user's groups, sorted.
  package init(account: Account, session: Session, groups: [String], allowsUnverifiedEmail: Bool) {
    self.account = account
    self.session = session
    self.groups = groups
    self.allowsUnverifiedEmail = allowsUnverifiedEmail
  }

  /// A claim as text, unencoded; nil if it is absent or empty.
  package func text(of claim: String) -> String? {
    IdentityHeaders.claim(
      claim, account: account, session: session, groups: groups, allowUnverifiedEmail: allowsUnverifiedEmail)
  }

  /// Whether Apple has verified the address.
  var isEmailVerified: Bool { account.claims.emailVerified == true }
}
