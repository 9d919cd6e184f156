/// Characters beyond ASCII that ignoring case turns into ASCII letters (The Unicode Standard, 3.13), beside those that
/// compatibility normalization turns into them (``CompatibilityLetters``: U+017F, U+212A and others). An application
/// that ignores case in paths may read the ASCII: by upper case (Java's `equalsIgnoreCase`), by lower case, by full
/// case folding, or by the rules of Turkish.
enum FoldedLetters {
  /// The ASCII bytes of a character, the first one lowest, as ``CompatibilityLetters/ascii(of:)`` gives them; 0 if it
  /// does not fold to ASCII.
  static func ascii(of scalar: UInt32) -> UInt32 {
    switch scalar {
    // Dotted capital I, dotless i, and its mathematical form, which compatibility normalization turns into it.
    case 0x130, 0x131, 0x1_D6A4: 0x69
    // Sharp s, in both cases.
    case 0xDF, 0x1E9E: 0x7373
    default: 0
    }
  }

  /// The UTF-8 bytes of a character without its case (simple mappings, The Unicode Standard, 3.13), the first one
  /// lowest.
  static func utf8(of scalar: UInt32) -> UInt32 {
    guard let character = Unicode.Scalar(scalar) else { return 0 }
    let upper = single(character.properties.uppercaseMapping) ?? character
    let folded = single(upper.properties.lowercaseMapping) ?? upper
    var bytes: UInt32 = 0
    for (place, byte) in folded.utf8.enumerated() { bytes |= UInt32(byte) << UInt32(place * 8) }
    return bytes
  }

  private static func single(_ text: String) -> Unicode.Scalar? {
    var scalars = text.unicodeScalars.makeIterator()
    guard let first = scalars.next(), scalars.next() == nil else { return nil }
    return first
  }
}
