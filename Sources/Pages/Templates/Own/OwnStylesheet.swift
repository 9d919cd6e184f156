internal import WebFormats

/// A valid custom stylesheet, which cannot end its `style` element.
struct OwnStylesheet: Sendable, Equatable {
  let text: String

  /// - Throws: everything that is wrong with it.
  init(_ contents: [UInt8]) throws(TemplateError) {
    func problem(_ reason: String, _ remedy: String, at offset: Int? = nil) -> TemplateDiagnostic {
      let passed = offset.map { contents.prefix($0) }
      let line = passed.map { $0.count { $0 == 0x0A } + 1 }
      let column = passed.map { $0.count - ($0.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1 }
      let place = line.flatMap { line in column.map { TemplateDiagnostic.Place(line: line, column: $0) } }
      return TemplateDiagnostic(file: OwnTemplates.stylesheetName, place: place, reason: reason, remedy: remedy)
    }
    guard contents.count <= OwnTemplates.sizeLimit else {
      throw TemplateError([problem("more than 64 KiB", "make it shorter")])
    }
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw TemplateError([problem("not valid UTF-8", "save it as UTF-8")])
    }
    let lowercased = contents.map(\.asciiLowercased)
    let forbidden = [
      ("</", "it would end the page's style", "leave it out"), ("<!--", "it is not CSS", "leave it out"),
      ("@import", "the page's policy lets nothing be loaded", "copy what it imports into this file"),
      ("@font-face", "the page's policy lets no font be loaded", "name fonts that visitors have"),
      ("http:", "the page's policy lets nothing be loaded from elsewhere", "serve it here, as url(/public/logo.svg)"),
      ("https:", "the page's policy lets nothing be loaded from elsewhere", "serve it here, as url(/public/logo.svg)"),
    ]
    var problems: [TemplateDiagnostic] = []
    for (text, reason, remedy) in forbidden {
      let wanted = Array(text.utf8)
      for offset in lowercased.indices where lowercased[offset...].starts(with: wanted) {
        problems.append(problem("\(text) stands in it: \(reason)", remedy, at: offset))
      }
    }
    guard problems.isEmpty else { throw TemplateError(problems) }
    self.text = text
  }
}

extension Markup {
  /// The text is trusted, because a valid stylesheet cannot end its element.
  init(_ stylesheet: OwnStylesheet) { html = stylesheet.text }
}
