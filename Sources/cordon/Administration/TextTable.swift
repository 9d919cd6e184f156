/// Rows of texts in aligned columns, below a line of headings. Pages of a long list can be printed one after the other:
/// a column never becomes narrower.
struct TextTable {
  private let headings: [String]
  private var widths: [Int]
  private var isBegun = false

  init(_ headings: [String]) {
    self.headings = headings
    widths = headings.map(\.count)
  }

  /// Prints rows, each with a text for every heading.
  mutating func print(_ rows: [[String]]) {
    let rows = rows.map { $0.map { printable($0) } }
    for row in rows { for (column, text) in row.enumerated() { widths[column] = max(widths[column], text.count) } }
    if !isBegun { cordon.print(line(headings)) }
    isBegun = true
    for row in rows { cordon.print(line(row)) }
  }

  /// A row; nothing follows the last text.
  private func line(_ texts: [String]) -> String {
    var line = ""
    for (column, text) in texts.enumerated() {
      line += text
      guard texts[(column + 1)...].contains(where: { !$0.isEmpty }) else { break }
      line += String(repeating: " ", count: widths[column] - text.count + 2)
    }
    return line
  }
}

/// Times of reports as tables show them.
enum TableTime {
  /// `2026-11-22T23:10:05Z` as `2026-11-22 23:10 UTC`.
  static func minute(_ time: String) -> String {
    let parts = time.split(separator: "T", maxSplits: 1)
    guard parts.count == 2, parts[1].utf8.count >= 5 else { return time }
    return "\(parts[0]) \(parts[1].prefix(5)) UTC"
  }
}
