/// Breaks text into lines.
enum Prose {
  /// Each line of the text, broken at spaces so that no line is longer than `width` where that can be.
  static func wrap(_ text: String, width: Int, prefix: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { wrapLine(String($0), width: width, prefix: prefix) }.joined(separator: "\n")
  }

  private static func wrapLine(_ line: String, width: Int, prefix: String) -> String {
    // The lines of a list item after its first are indented.
    let indent = line.hasPrefix("- ") ? "  " : ""
    var lines: [String] = []
    var current = prefix
    var isEmpty = true
    for word in line.split(separator: " ") {
      if !isEmpty, current.count + 1 + word.count > width {
        lines.append(current)
        current = prefix + indent
        isEmpty = true
      }
      current += isEmpty ? String(word) : " \(word)"
      isEmpty = false
    }
    lines.append(isEmpty ? String(prefix.reversed().drop { $0 == " " }.reversed()) : current)
    return lines.joined(separator: "\n")
  }
}
