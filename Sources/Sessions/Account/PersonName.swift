/// The name that a user entered at Apple. It is sent by the browser, unsigned and only once, so it is cleaned and used
/// only for display.
///
/// Cleaning: control characters, line and paragraph separators, and invisible direction marks (which can make one name
/// look like another) become spaces, runs of white space become one space, ends are trimmed, and each part is cut to
/// 100 characters and 400 bytes of UTF-8.
package struct PersonName: Sendable, Hashable, Codable {
  /// The given name (`firstName` in Apple's answer).
  package let given: String?
  /// The family name (`lastName`).
  package let family: String?
  /// The display form, unless it is given name, space, family name.
  package let display: String?

  /// Nil if nothing is left after cleaning.
  package init?(given: String?, family: String?, display: String? = nil) {
    self.given = Self.cleaned(given)
    self.family = Self.cleaned(family)
    self.display = Self.cleaned(display)
    if self.given == nil, self.family == nil, self.display == nil { return nil }
  }

  /// The whole name for people to read; never empty.
  package var text: String {
    if let display { return display }
    return [given, family].compactMap(\.self).joined(separator: " ")
  }

  /// The longest part, in characters.
  package static let maximumCharacters = 100
  /// The longest part, in bytes of UTF-8: one character can be hundreds of combining marks.
  package static let maximumBytes = 400

  private static func cleaned(_ text: String?) -> String? {
    guard let text else { return nil }
    var scalars = String.UnicodeScalarView()
    var bytes = 0
    var spaceIsOwed = false
    for scalar in text.unicodeScalars {
      if separates(scalar) {
        spaceIsOwed = !scalars.isEmpty
        continue
      }
      let width = UTF8.width(scalar) + (spaceIsOwed ? 1 : 0)
      if bytes + width > maximumBytes { break }
      if spaceIsOwed { scalars.append(" ") }
      spaceIsOwed = false
      scalars.append(scalar)
      bytes += width
    }
    var cut = String(scalars).prefix(maximumCharacters)
    if cut.utf8.last == UInt8(ascii: " ") { cut.removeLast() }
    return cut.isEmpty ? nil : String(cut)
  }

  private static func separates(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF: true
    default:
      scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }
  }
}
