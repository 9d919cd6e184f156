/// A word of a shell command that is printed for an operator to copy.
package enum ShellWord {
  /// The text as one word: as it is if the shell leaves it so, otherwise in double quotes. `${NAME}` stands for the
  /// value of a variable, and is left to the shell.
  package static func quoting(_ text: String) -> String {
    var isPlain = !text.isEmpty
    var quoted: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      if let variable = Self.variable(in: rest) {
        quoted += variable
        rest = rest.dropFirst(variable.count)
      } else {
        isPlain = isPlain && isOrdinary(byte)
        if special.contains(byte) { quoted.append(UInt8(ascii: "\\")) }
        quoted.append(byte)
        rest = rest.dropFirst()
      }
    }
    return isPlain ? text : "\"\(String(decoding: quoted, as: UTF8.self))\""
  }

  /// The variable at the beginning of a text, by its name alone: a shell would carry out `${A:-$(b)}`.
  private static func variable(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard text.starts(with: "${".utf8) else { return nil }
    let name = text.dropFirst(2).prefix { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
    let count = name.count + 3
    guard let first = name.first, !first.isASCIIDigit, text.prefix(count).last == UInt8(ascii: "}") else { return nil }
    return text.prefix(count)
  }

  /// Whether a byte means nothing to a shell, wherever it is in a word.
  private static func isOrdinary(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte >= 0x80 || ordinary.contains(byte)
  }

  private static let ordinary = Array("_@%+=:,./-".utf8)

  /// The bytes that mean something within double quotes.
  private static let special = Array("\\\"$`".utf8)
}
