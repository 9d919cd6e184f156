/// Apple's name for one user: the `sub` claim of the identity token, stable and the same across one team's apps. The
/// only thing that identifies an account; an e-mail address never does.
///
/// 1 to 255 visible ASCII characters (Apple's look like `001234.0123456789abcdef0123456789abcdef.0123`), so comparing
/// two is comparing their bytes.
package struct Subject: Sendable, Hashable, Codable, CustomStringConvertible {
  /// As Apple wrote it.
  package let text: String

  /// Nil unless `text` is 1 to 255 visible ASCII characters.
  package init?(_ text: String) {
    guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    self.text = text
  }

  /// The subject of a machine token: `token:NAME`. Apple's subjects have no colon.
  package init(ofToken name: GroupName) { text = "token:\(name.text)" }

  /// The end of a range of subjects: greater than the text of each.
  package static let end = "\u{7F}"

  /// From a string.
  /// - Throws: `DecodingError` where it cannot be a subject.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let subject = Subject(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a subject")
    }
    self = subject
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  package var description: String { text }
}
