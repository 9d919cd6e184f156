internal import WebFormats

/// Keys and values of log lines.
enum EscapedText {
  /// Appends `text` as a JSON string (``JSONString``), which keeps it on one line.
  /// - Parameter quoted: whether quotation marks are always written (JSON lines), or only where the text is empty or
  ///   has a space, `=` or an escape in it (text lines).
  static func append(_ text: Span<UInt8>, quoted: Bool, to bytes: inout some ByteSink & ~Copyable) {
    if !quoted, isBareWord(text) { bytes.append(text) } else { JSONString.append(text, to: &bytes) }
  }

  /// Whether text can be written in a text line without quotation marks.
  private static func isBareWord(_ text: Span<UInt8>) -> Bool {
    !text.isEmpty && JSONString.isPlain(text)
      && text.indices.allSatisfy { text[$0] != UInt8(ascii: " ") && text[$0] != UInt8(ascii: "=") }
  }
}
