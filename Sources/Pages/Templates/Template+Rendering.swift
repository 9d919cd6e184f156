internal import WebFormats

extension Template {
  /// Fills the template in. A value that is missing is an empty text, and its section is left out.
  func render(_ values: [String: Markup]) -> [UInt8] {
    var page = IndentedBytes()
    var index = 0
    while index < steps.count {
      var next = index + 1
      switch steps[index] {
      case .text(let bytes): page.appendLines(bytes)
      case .value(let name): if let markup = values[name] { page.append(markup.html.utf8) }
      case .section(let name, let isInverted, let end):
        if (values[name] == nil) != isInverted { next = end }
      case .indent(let blanks): page.indentation += blanks
      case .outdent(let count): page.indentation.removeLast(min(count, page.indentation.count))
      // A page whose layout was not joined: its place stays empty.
      case .insertion: break
      }
      index = next
    }
    return page.bytes
  }
}

/// The page so far, and the blanks that lines of it begin with.
private struct IndentedBytes {
  private(set) var bytes: [UInt8] = []
  var indentation: [UInt8] = []

  /// Appends text of the template.
  mutating func appendLines(_ text: [UInt8]) {
    guard !indentation.isEmpty else {
      bytes += text
      return
    }
    var rest = text[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
      append(rest[..<end])
      rest = rest[end...]
    }
  }

  /// Appends one line, or a value, whose own lines are not indented.
  mutating func append(_ piece: some Collection<UInt8>) {
    if !indentation.isEmpty, bytes.last == UInt8(ascii: "\n"), !piece.isEmpty { bytes += indentation }
    bytes += piece
  }
}
