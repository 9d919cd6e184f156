/// Text that came from elsewhere, fit for a terminal: control characters, and what turns the direction of the text
/// beside it, become `?`.
func printable(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.map { isTroublesome($0) ? "?" : $0 }))
}

private func isTroublesome(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: true
  case .format: scalar.properties.isBidiControl
  default: false
  }
}

/// The columns that a text takes on a terminal: Chinese characters, kana, Hangul and emoji take two each. Without
/// control characters.
func displayWidth(_ text: String) -> Int {
  text.reduce(0) { columns, character in
    guard let scalar = character.unicodeScalars.first else { return columns }
    return columns + (isWide(scalar) || character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1)
  }
}

/// Whether a character takes two columns (Unicode Standard Annex 11: `W` and `F`).
private func isWide(_ scalar: Unicode.Scalar) -> Bool {
  guard scalar.value >= 0x1100 else { return false }
  return switch scalar.value {
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
    true
  default: scalar.properties.isEmojiPresentation
  }
}
