internal import WebFormats

/// One e-mail address as rules compare it: exactly one `@` between a dot-atom (RFC 5322, 3.4.1) and a domain.
/// Characters beyond ASCII are letters (RFC 6531, 3.3).
///
/// Everything else is not an address to a rule: quoted local parts, comments, lists of addresses. An application may
/// parse another address from such a text than a rule would.
struct EmailAddress {
  /// The whole, with ASCII letters in lower case.
  let folded: [UInt8]
  /// The range of its domain.
  let domain: Range<Int>

  /// Nil unless the text is exactly one address.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let at = bytes.firstIndex(of: UInt8(ascii: "@")) else { return nil }
    guard Self.isDotAtom(bytes[..<at], Self.isAtomText), Self.isDomain(bytes[(at + 1)...]) else { return nil }
    guard Self.hasPlainCharacters(text) else { return nil }
    folded = bytes.map(\.asciiLowercased)
    domain = at + 1..<bytes.count
  }

  /// Whether a text can follow the `@` of an address.
  static func isDomain(_ text: String) -> Bool {
    isDomain(Array(text.utf8)[...]) && hasPlainCharacters(text)
  }

  private static func isDomain(_ bytes: ArraySlice<UInt8>) -> Bool { isDotAtom(bytes, isDomainText) }

  /// `1*atext *("." 1*atext)`
  private static func isDotAtom(_ bytes: ArraySlice<UInt8>, _ isText: (UInt8) -> Bool) -> Bool {
    bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && $0.allSatisfy(isText) }
  }

  /// `atext`: letters, digits and ``!#$%&'*+-/=?^_`{|}~``.
  private static func isAtomText(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte >= 0x80 || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
  }

  /// Letters, digits, `-` and `_`.
  private static func isDomainText(_ byte: UInt8) -> Bool {
    isAtomText(byte) && (byte >= 0x80 || byte == UInt8(ascii: "-") || byte.isUnreserved)
      && byte != UInt8(ascii: "~")
  }

  /// Whether a text has characters that nobody sees, as copied text may: U+200B, U+FEFF, U+00AD. An entry of a list
  /// with one looks like an address, and is nobody's. The addresses of users are compared as they are.
  static func hasInvisibleCharacters(_ text: String) -> Bool {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return false }
    var before: UInt32 = 0
    for scalar in text.unicodeScalars {
      // Between letters of Persian and of India's languages, joiners are part of a name (RFC 5892, A.1 and A.2).
      let isJoiner = (0x200C...0x200D).contains(scalar.value) && (0x600..<0x2000).contains(before)
      if scalar.properties.isDefaultIgnorableCodePoint, !isJoiner { return true }
      before = scalar.value
    }
    return false
  }

  /// Whether no character beyond ASCII is a control character, a line separator, or read as an ASCII sign once it is
  /// normalized (U+FF0C as a comma, U+FF20 as `@`).
  private static func hasPlainCharacters(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      guard scalar.value >= 0x80 else { return true }
      if scalar.value < 0xA0 || scalar.value == 0x2028 || scalar.value == 0x2029 { return false }
      var letters = CompatibilityLetters.ascii(of: scalar.value)
      while letters != 0 {
        if !isDomainText(UInt8(truncatingIfNeeded: letters)) { return false }
        letters >>= 8
      }
      return true
    }
  }
}
