/// A word of a shell command that is printed for an operator to copy.
package enum ShellWord {
  /// The text as one word: as it is if the shell leaves it so, otherwise in double quotes. `${NAME}` stands for the
  /// value of a variable, and is left to the shell.
  package static func quoting(_ text: String) -> String {
    var isPlain = !text.isEmpty
    var isVariable = false
    var quoted: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "$"), rest.first == UInt8(ascii: "{") { isVariable = true }
      if !isVariable {
        isPlain = isPlain && isOrdinary(byte)
        if special.contains(byte) { quoted.append(UInt8(ascii: "\\")) }
      }
      quoted.append(byte)
      if byte == UInt8(ascii: "}") { isVariable = false }
    }
    return isPlain ? text : "\"\(String(decoding: quoted, as: UTF8.self))\""
  }

  /// Whether a byte means nothing to a shell, wherever it is in a word.
  private static func isOrdinary(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte >= 0x80 || ordinary.contains(byte)
  }

  private static let ordinary = Array("_@%+=:,./-".utf8)

  /// The bytes that mean something within double quotes.
  private static let special = Array("\\\"$`".utf8)
}
