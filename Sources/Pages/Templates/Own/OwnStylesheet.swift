internal import WebFormats

/// A valid custom stylesheet, which cannot end its `style` element.
struct OwnStylesheet: Sendable, Equatable {
  let text: String

  /// - Throws: everything that is wrong with it.
  init(_ contents: [UInt8]) throws(TemplateError) {
    func diagnostic(_ problem: String, _ remedy: String, at offset: Int? = nil) -> TemplateDiagnostic {
      let passed = offset.map { contents.prefix($0) }
      let line = passed.map { $0.count { $0 == 0x0A } + 1 }
      let column = passed.map { $0.count - ($0.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1 }
      let place = line.flatMap { line in column.map { TemplateDiagnostic.Place(line: line, column: $0) } }
      return TemplateDiagnostic(file: OwnTemplates.stylesheetName, place: place, problem: problem, remedy: remedy)
    }
    guard contents.count <= OwnTemplates.sizeLimit else {
      throw TemplateError([diagnostic("more than 64 KiB", "make it shorter")])
    }
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw TemplateError([diagnostic("not valid UTF-8", "save it as UTF-8")])
    }
    let read = DecodedStylesheet(contents)
    var problems: [TemplateDiagnostic] = []
    func refuse(_ text: String, at offsets: [Int], _ reason: String, _ remedy: String) {
      problems += offsets.map { diagnostic("\(text) stands in it: \(reason)", remedy, at: $0) }
    }
    // The HTML parser ends the element here, also within a comment or a string of CSS.
    for (text, reason) in [("</", "it would end the page's style"), ("<!--", "it is not CSS")] {
      let offsets = contents.indices.filter { contents[$0...].starts(with: text.utf8) }
      refuse(text, at: offsets, reason, "leave it out")
    }
    refuse(
      "@import", at: read.offsets(of: "@import"), "the page's policy lets nothing be loaded",
      "copy what it imports into this file")
    refuse(
      "@font-face", at: read.offsets(of: "@font-face"), "the page's policy lets no font be loaded",
      "name fonts that visitors have")
    let foreign = [
      ("http:", read.offsets(of: "http:")), ("https:", read.offsets(of: "https:")),
      ("//", read.offsetsOfHostsWithoutScheme),
    ]
    for (text, offsets) in foreign {
      refuse(
        text, at: offsets, "the page's policy lets nothing be loaded from elsewhere",
        "serve it here, as url(/public/logo.svg)")
    }
    guard problems.isEmpty else { throw TemplateError(problems) }
    self.text = text
  }
}

/// A stylesheet as browsers read it: in lower case, with escapes resolved (CSS Syntax Level 3, 4.3.7).
private struct DecodedStylesheet {
  private var bytes: [UInt8] = []
  /// The place of each byte in the file.
  private var places: [Int] = []

  init(_ contents: [UInt8]) {
    var index = 0
    while index < contents.count {
      let place = index
      index += 1
      guard contents[place] == UInt8(ascii: "\\"), index < contents.count else {
        append(contents[place], from: place)
        continue
      }
      if let character = Self.escaped(contents, &index) { append(character, from: place) }
    }
  }

  private mutating func append(_ byte: UInt8, from place: Int) {
    bytes.append(byte.asciiLowercased)
    places.append(place)
  }

  /// The character that is written after a backslash; nil for a line break or tab, which URLs do not keep. One that is
  /// not ASCII counts as 0xFF, because none of those is looked for.
  private static func escaped(_ contents: [UInt8], _ index: inout Int) -> UInt8? {
    var (value, digits) = (0, 0)
    while digits < 6, index < contents.count, let digit = Hex.value(of: contents[index]) {
      value = value * 16 + Int(digit)
      digits += 1
      index += 1
    }
    if digits == 0 {
      value = Int(contents[index])
      index += 1
    } else if index < contents.count, isSpace(contents[index]) {
      // One white space ends the digits.
      index += 1
    }
    if [0x09, 0x0A, 0x0D].contains(value) { return nil }
    return value < 0x80 ? UInt8(value) : 0xFF
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// The places of a text, which is in lower case.
  func offsets(of text: String) -> [Int] { indices(of: text).map { places[$0] } }

  private func indices(of text: String) -> [Int] {
    let text = Array(text.utf8)
    return bytes.indices.filter { bytes[$0...].starts(with: text) }
  }

  /// The places of addresses that name a host without a scheme (`//cdn.example.com/logo.svg`), for which browsers take
  /// that of the page. They read a backslash as a slash there.
  var offsetsOfHostsWithoutScheme: [Int] {
    var found: Set<Int> = []
    for function in ["url(", "src("] {
      for start in indices(of: function) {
        var index = afterSpace(start + function.utf8.count)
        if index < bytes.count, Self.isQuote(bytes[index]) { index = afterSpace(index + 1) }
        if namesHost(at: index) { found.insert(places[index]) }
      }
    }
    // Its strings are addresses, too.
    for start in indices(of: "image-set(") {
      let end = bytes[start...].firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "}") } ?? bytes.count
      for quote in start..<end where Self.isQuote(bytes[quote]) {
        let index = afterSpace(quote + 1)
        if namesHost(at: index) { found.insert(places[index]) }
      }
    }
    return found.sorted()
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  private func afterSpace(_ index: Int) -> Int {
    bytes[min(index, bytes.count)...].firstIndex { !Self.isSpace($0) } ?? bytes.count
  }

  private func namesHost(at index: Int) -> Bool {
    guard index + 1 < bytes.count else { return false }
    return bytes[index...index + 1].allSatisfy { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
  }
}

extension Markup {
  /// The text is trusted, because a valid stylesheet cannot end its element.
  init(_ stylesheet: OwnStylesheet) { self.init(stringLiteral: stylesheet.text) }
}
