/// One valid custom template.
struct OwnTemplate {
  /// The template as it is rendered.
  let template: Template

  /// - Throws: everything that is wrong with it.
  init(_ contents: [UInt8], of name: PageTemplates.Name) throws(TemplateError) {
    let file = OwnTemplates.fileName(name)
    func refuse(_ problem: String, _ remedy: String) -> TemplateError {
      TemplateError([TemplateDiagnostic(file: file, problem: problem, remedy: remedy)])
    }
    let bytes = contents.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(contents.dropFirst(3)) : contents
    guard bytes.count <= OwnTemplates.sizeLimit else { throw refuse("more than 64 KiB", "make it shorter") }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw refuse("not valid UTF-8", "save it as UTF-8") }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else {
      throw refuse("holds control characters", "remove them")
    }
    var reader = TemplateReader(name)
    reader.read(bytes)
    guard reader.problems.isEmpty else { throw TemplateError(reader.problems) }
    template = TemplateParser.parse(reader.pieces)
  }
}

extension UInt8 {
  /// Space, tab, or an end of line.
  var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
