/// Rows of texts in aligned columns, below a line of headings. Pages of a long list can be printed one after the other:
/// a column never becomes narrower.
///
/// On a terminal that is too narrow for a row, its last columns go on below, indented. Elsewhere a row stays a line.
struct TextTable {
  private let headings: [String]
  /// The columns of the terminal; nil where standard output is none.
  private let terminalColumns: Int?
  private var widths: [Int]
  /// The lines of the latest headings; nil before the first.
  private var printedLines: [Range<Int>]?

  init(_ headings: [String]) {
    self.headings = headings
    terminalColumns = TerminalLines().columns
    widths = headings.map { displayWidth($0) }
  }

  /// Prints rows, each with a text for every heading.
  mutating func print(_ rows: [[String]]) {
    let rows = rows.map { $0.map { printable($0) } }
    for row in rows {
      for (column, text) in row.enumerated() { widths[column] = max(widths[column], displayWidth(text)) }
    }
    let lines = self.lines
    if lines != printedLines { print(headings, in: lines) }
    printedLines = lines
    for row in rows { print(row, in: lines) }
  }

  /// The columns of the table on each line of a row.
  private var lines: [Range<Int>] {
    guard let terminalColumns else { return [widths.indices] }
    var lines: [Range<Int>] = []
    var (first, used) = (0, 0)
    for (column, width) in widths.enumerated() {
      if column > first, used + width > terminalColumns {
        lines.append(first..<column)
        (first, used) = (column, Self.gap)
      }
      used += width + Self.gap
    }
    return lines + [first..<widths.count]
  }

  /// A line below the first is left out if all its texts are empty.
  private func print(_ texts: [String], in lines: [Range<Int>]) {
    for (number, columns) in lines.enumerated() {
      let line = self.line(texts, columns)
      if number == 0 {
        cordon.print(line)
      } else if !line.isEmpty {
        cordon.print(String(repeating: " ", count: Self.gap) + line)
      }
    }
  }

  /// Some columns of a row; nothing follows the last text.
  private func line(_ texts: [String], _ columns: Range<Int>) -> String {
    var line = ""
    for column in columns {
      let rest = texts[column..<columns.upperBound]
      guard rest.contains(where: { !$0.isEmpty }) else { break }
      line += texts[column]
      guard rest.dropFirst().contains(where: { !$0.isEmpty }) else { break }
      line += String(repeating: " ", count: widths[column] - displayWidth(texts[column]) + Self.gap)
    }
    return line
  }

  /// Spaces between columns, and before the lines that go on.
  private static let gap = 2
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
