import RandomTesting

/// Random templates of the subset that pages use, for comparison with another implementation.
///
/// Corners in which swift-mustache deviates from the specification are left out: a section that begins within a line
/// and ends alone on one, or the other way round; blanks after a tag at the end of a file; a layout with indentation
/// in a file with CR LF; a block whose first line begins within a section. `TemplateTests` has cases of them.
struct RandomTemplates {
  static let names = ["heading", "host", "user", "way", "notice"]

  private var generator: SeededNumbers
  private var newline = "\n"

  init(seed: UInt64) { generator = SeededNumbers(seed: seed) }

  /// A layout, a page within it, and values, of which any may be missing.
  mutating func next() -> (layout: String, page: String, values: [String: String]) {
    newline = chance(5) ? "\r\n" : "\n"
    return (layout(), page(), values())
  }

  private mutating func values() -> [String: String] {
    var values: [String: String] = [:]
    for name in Self.names where Bool.random(using: &generator) {
      values[name] = pick(["x", "", "two\nlines", "ends\n", "\n", "Größe 大", " blank "])
    }
    return values
  }

  private mutating func layout() -> String {
    let blanks = newline == "\n" ? self.blanks() : ""
    let place = pick([
      "<main>{{$content}}{{/content}}</main>", "<main>{{$content}}{{host}} default{{/content}}</main>",
      "\(blanks){{$content}}{{/content}}", "\(blanks){{$content}}\(newline)  default\(newline)  {{/content}}",
    ])
    return lines(2) + place + newline + lines(2) + (chance(2) ? "</html>" : "")
  }

  private mutating func page() -> String {
    if chance(8) { return lines(3) }
    let before = newline == "\n" && chance(3) ? newline + blanks() : ""
    if chance(4) {
      return before + "{{<layout}}{{$content}}" + words(isOneLine: true) + newline + lines(3)
        + "{{/content}}{{/layout}}"
    }
    let between = pick(["", newline, newline + blanks()])
    let after = pick(["", newline, newline + newline])
    let end = chance(2) ? "{{/content}}" : blanks() + "{{/content}}"
    return before + "{{<layout}}\(between){{$content}}\(newline)" + lines(3) + end + between + "{{/layout}}" + after
  }

  /// Whole lines.
  private mutating func lines(_ depth: Int) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: text += (chance(2) ? blanks() : "") + newline
      case 1: text += blanks() + pick(["{{! alone }}", "{{!two\n lines}}"]) + blanks() + newline
      case 2,
        3 where depth > 0:
        let name = pick(Self.names)
        text += blanks() + "{{\(pick(["#", "^", "# "]))\(name)}}" + blanks() + newline + lines(depth - 1)
        text += blanks() + "{{/\(name)}}" + newline
      default: text += blanks() + words() + newline
      }
    }
    return text
  }

  /// A part of a line that does not end with a tag other than a value's.
  private mutating func words(isOneLine: Bool = false) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let name = pick(Self.names)
      if !isOneLine, chance(8) { text += "<b>{{#\(name)}}\(newline)  x\(newline)y{{/\(name)}}z" }
      text += pick([
        "<p>", "a {x} }", " ", "é<b>", "{{\(name)}}", "{{{\(name)}}}", "{{& \(name) }}", "a{{! no value }}b",
        "{{#\(name)}}in{{\(name)}}{{/\(name)}}.", "<i>{{^\(name)}}{{host}} {{/\(name)}}</i>",
      ])
    }
    return text + pick(["</p>", "."])
  }

  private mutating func blanks() -> String { pick(["", "", "  ", "    ", "\t", "   "]) }
  private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "" }
  /// Once in so many times.
  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
}
