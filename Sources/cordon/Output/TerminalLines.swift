#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lines for people: on a terminal, what is too long for it goes on below, indented. Elsewhere a line stays a line.
struct TerminalLines {
  /// The columns of the terminal; nil where standard output is not a terminal.
  let columns: Int?

  /// Lines for standard output.
  init() {
    var size = winsize()
    guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      columns = nil
      return
    }
    columns = Int(size.ws_col)
  }

  /// Prints rows of a name and a text, the texts in a column of their own.
  /// - Parameters:
  ///   - indentation: columns before the names.
  ///   - nameWidth: least columns of the names, for tables below each other.
  func printTable(_ rows: [(part: String, text: String)], indentation: Int = 0, nameWidth: Int = 0) {
    let width = max(nameWidth, rows.map(\.part.count).max() ?? 0)
    for row in rows {
      let name =
        String(repeating: " ", count: indentation) + row.part
        + String(repeating: " ", count: width - row.part.count)
      print("\(name)  \(fitted(printable(row.text), indentation: indentation + width + 2))")
    }
  }

  /// - Parameters:
  ///   - text: what is to stand after `indentation` columns; without control characters.
  ///   - indentation: where a line that goes on begins; what stands before the first one is the caller's.
  func fitted(_ text: String, indentation: Int) -> String {
    guard let columns, columns - indentation >= 20 else { return text }
    let width = columns - indentation
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if line.isEmpty {
        line = String(word)
      } else if line.count + 1 + word.count <= width {
        line += " \(word)"
      } else {
        lines.append(line)
        line = String(word)
      }
    }
    lines.append(line)
    return lines.joined(separator: "\n" + String(repeating: " ", count: indentation))
  }
}
