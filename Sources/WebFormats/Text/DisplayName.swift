/// Makes a name of submitted text.
package enum DisplayName {
  /// The longest name kept, in bytes of UTF-8 (counted by whole characters) and in characters.
  static let maximumBytes = 256
  static let maximumCharacters = 100

  /// The text in NFC without anything that is not visible text: control characters, line breaks, bidirectional
  /// overrides and isolates, zero-width and other format characters (but not the joiners that Persian and Indian
  /// scripts spell names with), private-use and unassigned code points. Runs of white space become one space, at the
  /// ends none. Markup stays: it is text, which is escaped on output. `nil` if nothing visible is left.
  package static func sanitized(_ text: String) -> String? {
    var cleaned = String.UnicodeScalarView()
    var spacePending = false
    for scalar in text.unicodeScalars.prefix(maximumBytes * 4) {
      if isSpace(scalar) {
        spacePending = !cleaned.isEmpty
      } else if isVisible(scalar) {
        if spacePending { cleaned.append(" ") }
        spacePending = false
        cleaned.append(scalar)
      }
    }
    let composed = String(cleaned).canonicallyComposed
    var kept = ""
    var bytes = 0
    for character in composed.prefix(maximumCharacters) {
      bytes += character.utf8.count
      if bytes > maximumBytes { break }
      kept.append(character)
    }
    if kept.utf8.last == UInt8(ascii: " ") { kept.removeLast() }
    return kept.unicodeScalars.contains { !isJoiner($0) } ? kept : nil
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
    default: (0x09...0x0D).contains(scalar.value) || scalar.value == 0x85
    }
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .surrogate, .privateUse, .unassigned: false
    case .format: isJoiner(scalar)
    default: true
    }
  }

  /// Zero-width non-joiner and joiner. They turn nothing around.
  private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0x200C || scalar.value == 0x200D
  }
}
