internal import WebFormats

/// The public name of an invitation.
enum InvitationID {
  /// Whether a text can be one.
  static func isValid(_ text: String) -> Bool {
    (1...16).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIILetterOrDigit)
  }

  /// A random one: eight letters and digits that are easily distinguished.
  static func random() -> String {
    let alphabet = Array("23456789abcdefghjkmnpqrstuvwxyz".utf8)
    return String(decoding: (0..<8).map { _ in alphabet.randomElement() ?? alphabet[0] }, as: UTF8.self)
  }
}
