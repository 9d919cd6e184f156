/// Cuts a template into text and tags, as bytes.
struct TemplateScanner {
  /// A piece of a template.
  enum Part: Equatable {
    case text(ArraySlice<UInt8>)
    /// `{{name}}`, `{{{name}}}` or `{{&name}}`, which mean the same here.
    case value(String)
    /// `{{#name}}`, or `{{^name}}` if it is inverted.
    case section(String, isInverted: Bool)
    /// `{{<name}}`.
    case parent(String)
    /// `{{$name}}`.
    case block(String)
    /// `{{/name}}`.
    case end(String)
    /// `{{! … }}`.
    case comment
  }

  struct Piece {
    var part: Part
    var place: TemplateDiagnostic.Place
  }

  private let bytes: [UInt8]
  private var index = 0
  private var place = TemplateDiagnostic.Place(line: 1, column: 1)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next piece; nil at the end. Two pieces of text never follow each other.
  mutating func next() throws(SyntaxError) -> Piece? {
    guard index < bytes.count else { return nil }
    let begin = place
    if bytes[index...].starts(with: Self.open) { return Piece(part: try tag(at: begin), place: begin) }
    var end = index
    while end < bytes.count, !bytes[end...].starts(with: Self.open) { end += 1 }
    return Piece(part: .text(advance(to: end)), place: begin)
  }

  private static let open = Array("{{".utf8)

  private mutating func tag(at begin: TemplateDiagnostic.Place) throws(SyntaxError) -> Part {
    var close = Array("}}".utf8)
    let sign = bytes.count > index + 2 ? bytes[index + 2] : 0
    if sign == UInt8(ascii: "{") { close = Array("}}}".utf8) }
    guard let end = (index + 2..<bytes.count).first(where: { bytes[$0...].starts(with: close) }) else {
      throw SyntaxError(begin, "a tag that is not closed", "end it with }}")
    }
    let content = bytes[(index + 2)..<end]
    defer { _ = advance(to: end + close.count) }
    let name: String
    switch sign {
    case UInt8(ascii: "!"): return .comment
    case UInt8(ascii: ">"):
      throw SyntaxError(begin, "{{>…}} puts another file in, and there are none", "write what it says here")
    case UInt8(ascii: "="), UInt8(ascii: "%"), UInt8(ascii: "*"):
      throw SyntaxError(
        begin, "a tag that is not known here", "there are values, sections, comments, {{<layout}} and {{$content}}")
    case UInt8(ascii: "{"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: "^"), UInt8(ascii: "<"),
      UInt8(ascii: "$"), UInt8(ascii: "/"):
      name = try Self.name(content.dropFirst(), at: begin)
    default: name = try Self.name(content, at: begin)
    }
    return switch sign {
    case UInt8(ascii: "#"): .section(name, isInverted: false)
    case UInt8(ascii: "^"): .section(name, isInverted: true)
    case UInt8(ascii: "<"): .parent(name)
    case UInt8(ascii: "$"): .block(name)
    case UInt8(ascii: "/"): .end(name)
    default: .value(name)
    }
  }

  private static func name(_ content: ArraySlice<UInt8>, at begin: TemplateDiagnostic.Place) throws(SyntaxError)
    -> String
  {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    var name = content.drop(while: isBlank)
    while let last = name.last, isBlank(last) { name = name.dropLast() }
    let isName = name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isName, !name.isEmpty, name.count <= 40 else {
      throw SyntaxError(begin, "a tag without a name", "write the name of a value, as in {{heading}}")
    }
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func advance(to end: Int) -> ArraySlice<UInt8> {
    let passed = bytes[index..<end]
    for byte in passed {
      if byte == 0x0A { place = .init(line: place.line + 1, column: 1) } else { place.column += 1 }
    }
    index = end
    return passed
  }

  /// A problem with its location.
  struct SyntaxError: Error {
    var place: TemplateDiagnostic.Place
    var problem: String
    var remedy: String

    init(_ place: TemplateDiagnostic.Place, _ problem: String, _ remedy: String) {
      (self.place, self.problem, self.remedy) = (place, problem, remedy)
    }
  }
}
