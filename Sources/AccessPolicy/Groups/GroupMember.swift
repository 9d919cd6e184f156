internal import WebFormats

/// One member as the configuration writes it.
package enum GroupMember: Sendable, Hashable {
  /// Apple's `sub`, byte for byte.
  case subject([UInt8])
  /// In lower case.
  case email([UInt8])
  /// In lower case, without the `@`.
  case domain([UInt8])

  /// Nil for a text that is neither: an address that is not exactly one, a pattern, control characters.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    if let address = EmailAddress(text) {
      self = .email(address.folded)
    } else if bytes.first == UInt8(ascii: "@") {
      let domain = String(text.dropFirst())
      guard EmailAddress.isDomain(domain) else { return nil }
      self = .domain(domain.utf8.map(\.asciiLowercased))
    } else {
      guard Self.isSubject(text), !bytes.contains(UInt8(ascii: "@")) else { return nil }
      self = .subject(bytes)
    }
  }

  /// Whether a text can be the subject of an identity token: 1 to 255 bytes of printable ASCII without spaces. A token
  /// with any other is refused.
  static func isSubject(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The problem of a text as a member; nil for a member.
  package static func problem(of text: String) -> Diagnostic? {
    guard let member = GroupMember(text) else { return .notMember }
    if EmailAddress.hasInvisibleCharacters(text) { return .invisibleCharacter }
    switch member {
    case .email(let bytes):
      return bytes.prefix { $0 != UInt8(ascii: "@") }.contains(UInt8(ascii: "*")) ? .pattern : nil
    case .domain(let bytes): return bytes.elementsEqual(AccessLists.relayDomain.utf8) ? .relayDomain : nil
    case .subject(let bytes): return bytes.contains(UInt8(ascii: "*")) ? .pattern : nil
    }
  }

  /// Whether a text counts as a subject, but does not look like one. Apple's are digits and lower-case letters with
  /// dots between their parts (001234.0123456789abcdef0123456789abcdef.0123), and are compared byte for byte. Other
  /// issuers of the kind may have another form.
  package static func isUnlikelySubject(_ text: String) -> Bool {
    guard case .subject(let bytes) = GroupMember(text) else { return false }
    let dot = UInt8(ascii: ".")
    return !bytes.contains(dot)
      || !bytes.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter && $0 == $0.asciiLowercased || $0 == dot }
  }

  /// Whether a text counts as a subject, but looks like a domain without its `@`.
  package static func isLikelyDomain(_ text: String) -> Bool {
    guard case .subject(let bytes) = GroupMember(text) else { return false }
    return bytes.first?.isASCIILetter == true && bytes.contains(UInt8(ascii: "."))
  }

  /// A diagnostic about a text that should be a member.
  package enum Diagnostic: Sendable, Equatable {
    /// Neither a subject, an e-mail address nor a domain.
    case notMember
    /// An address or a subject with a `*`, which would be compared as it stands.
    case pattern
    /// The domain of Apple's relay, whose addresses belong to everybody who hides the real one.
    case relayDomain
    /// An address or a domain with a character that nobody sees.
    case invisibleCharacter

    /// The problem, to follow a subject.
    package var message: String {
      switch self {
      case .notMember: "is neither a subject, an e-mail address nor a domain"
      case .pattern: "has a \"*\", but members are not patterns"
      case .relayDomain: "is the domain of Apple's relay, which would admit everybody who hides the address"
      case .invisibleCharacter: "has an invisible character, which no address has"
      }
    }

    /// The correction, in the imperative.
    package var remedy: String {
      switch self {
      case .notMember: "write \"001234.abc.5678\", \"ada@example.com\", or \"@example.com\" for a whole domain"
      case .pattern: "write \"@example.com\" for every address of a domain"
      case .relayDomain: "remove it; `cordon groups add` adds a user who hides the address"
      case .invisibleCharacter: "type it again instead of copying it"
      }
    }
  }
}
