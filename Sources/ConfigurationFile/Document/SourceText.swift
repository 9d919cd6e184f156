/// A line and a column of a file, both counted from 1; columns count characters (Unicode scalars), as editors do.
struct SourceLocation: Sendable, Hashable, Comparable {
  var line: Int
  var column: Int

  static let start = SourceLocation(line: 1, column: 1)

  static func < (left: SourceLocation, right: SourceLocation) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// The bytes of a file, and the offsets of its lines.
struct SourceText: Sendable {
  let bytes: [UInt8]
  private let lineStarts: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var starts = [0]
    for (index, byte) in bytes.enumerated() where byte == 0x0A { starts.append(index + 1) }
    lineStarts = starts
  }

  /// The place itself if it is one of this text, otherwise the end of its line, or of the last one.
  func nearest(to location: SourceLocation) -> SourceLocation {
    let line = min(max(location.line, 1), lineStarts.count)
    let end = self.location(of: line < lineStarts.count ? lineStarts[line] - 1 : bytes.count)
    return min(SourceLocation(line: line, column: max(location.column, 1)), end)
  }

  /// The offset after a line.
  func end(ofLine line: Int) -> Int { lineStarts.indices.contains(line) ? lineStarts[line] : bytes.count }

  /// Whether the first character of a line, blanks aside, is `[`.
  func startsWithBracket(_ line: Int) -> Bool {
    guard lineStarts.indices.contains(line - 1) else { return false }
    return bytes[lineStarts[line - 1]...].first { $0 != UInt8(ascii: " ") && $0 != 0x09 } == UInt8(ascii: "[")
  }

  func location(of offset: Int) -> SourceLocation {
    let offset = min(max(offset, 0), bytes.count)
    var (low, high) = (0, lineStarts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle - 1 }
    }
    // Continuation bytes of UTF-8 are not characters of their own.
    let characters = bytes[lineStarts[low]..<offset].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    return SourceLocation(line: low + 1, column: characters + 1)
  }
}
