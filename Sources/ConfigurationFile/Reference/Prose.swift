internal import WebFormats

/// Breaks text into lines.
enum Prose {
  /// Each line of the text, broken at spaces so that no line is longer than `width` where that can be: headings and
  /// `code` are not broken, and no line begins with what Markdown takes for a list or a heading.
  static func wrap(_ text: String, width: Int, prefix: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { wrapLine(String($0), width: width, prefix: prefix) }.joined(separator: "\n")
  }

  private static func wrapLine(_ line: String, width: Int, prefix: String) -> String {
    if line.utf8.first == UInt8(ascii: "#") { return prefix + line }
    // The lines of a list item after its first are indented.
    let indent = line.hasPrefix("- ") ? "  " : ""
    var lines: [String] = []
    var current = prefix
    var isEmpty = true
    for word in words(line) {
      if !isEmpty, current.count + 1 + word.count > width {
        lines.append(current)
        current = prefix + indent
        isEmpty = true
      }
      current += isEmpty ? word : " \(word)"
      isEmpty = false
    }
    lines.append(isEmpty ? String(prefix.reversed().drop { $0 == " " }.reversed()) : current)
    return lines.joined(separator: "\n")
  }

  /// The parts of a line between which it may be broken.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var isInCode = false
    for part in line.split(separator: " ") {
      let isGlued = isInCode || startsBlock(part)
      if isGlued, let last = words.popLast() { words.append("\(last) \(part)") } else { words.append(String(part)) }
      if !part.utf8.count(where: { $0 == UInt8(ascii: "`") }).isMultiple(of: 2) { isInCode.toggle() }
    }
    return words
  }

  /// Whether Markdown takes a word at the beginning of a line for that of a list, a heading or a quotation.
  private static func startsBlock(_ word: Substring) -> Bool {
    if ["-", "+", "*", ">"].contains(word) || word.utf8.first == UInt8(ascii: "#") { return true }
    let digits = word.utf8.prefix { $0.isASCIIDigit }
    return (1...9).contains(digits.count) && [".", ")"].contains(word.dropFirst(digits.count))
  }
}
