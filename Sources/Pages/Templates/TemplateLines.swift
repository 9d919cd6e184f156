/// The lines of a template: which tags stand alone on theirs.
struct TemplateLines {
  private let pieces: [TemplateScanner.Piece]

  init(_ pieces: [TemplateScanner.Piece]) { self.pieces = pieces }

  /// Whether a tag stands alone on its line, which then is not a line of the page.
  func isAlone(_ index: Int) -> Bool { beginsLine(index) && endsLine(index) }

  /// Whether only blanks stand after a tag on its line.
  func endsLine(_ index: Int) -> Bool {
    guard index + 1 < pieces.count else { return true }
    guard case .text(let text) = pieces[index + 1].part else { return false }
    let rest = text.drop(while: \.isIndentation)
    if rest.isEmpty { return index + 2 == pieces.count }
    return rest.starts(with: "\n".utf8) || rest.starts(with: "\r\n".utf8)
  }

  /// The blanks before a tag, if only blanks stand before it on its line.
  func indentation(before index: Int) -> [UInt8] {
    guard beginsLine(index), index > 0, case .text(let text) = pieces[index - 1].part else { return [] }
    return text.suffix(from: text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.startIndex).map(\.self)
  }

  /// Whether the blanks before a tag go with its line: those before the layout or its block are the indentation of what
  /// is put in their places.
  func losesIndentation(_ index: Int) -> Bool {
    guard index < pieces.count else { return false }
    return switch pieces[index].part {
    case .section, .end, .comment: isAlone(index)
    case .text, .value, .parent, .block: false
    }
  }

  /// The text without its first line, which ends with a newline or with the text.
  static func behindFirstLine(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    text.firstIndex(of: UInt8(ascii: "\n")).map { text[($0 + 1)...] } ?? []
  }

  private func beginsLine(_ index: Int) -> Bool {
    guard index > 0 else { return true }
    guard case .text(let text) = pieces[index - 1].part else { return false }
    let before = text.reversed().drop(while: \.isIndentation)
    return before.isEmpty ? index == 1 : before.first == UInt8(ascii: "\n")
  }
}

/// The indentation of a block: that of its first line, which all of its lines lose.
struct BlockIndentation {
  /// The number of blanks; nil before the first line.
  private var count: Int?

  /// Removes it from the lines that begin in a text.
  /// - Parameter beginsLine: whether the text begins with a line.
  mutating func remove(from text: ArraySlice<UInt8>, beginsLine: Bool) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text
    var beginsLine = beginsLine
    repeat {
      if beginsLine {
        let blanks = rest.prefix(while: \.isIndentation).count
        let removed = min(count ?? blanks, blanks)
        count = count ?? blanks
        rest = rest.dropFirst(removed)
      }
      let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
      beginsLine = end > rest.startIndex && rest[end - 1] == UInt8(ascii: "\n")
      result += rest[..<end]
      rest = rest[end...]
    } while beginsLine
    return result
  }
}

extension UInt8 {
  /// Space or tab.
  var isIndentation: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
