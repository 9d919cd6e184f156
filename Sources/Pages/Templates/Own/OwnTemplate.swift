/// One template of the operator's own, read and found in order.
struct OwnTemplate {
  /// The source for swift-mustache: the same, with every variable in three braces and without comments.
  let source: String

  /// - Throws: everything that is wrong with it.
  init(_ contents: [UInt8], of name: PageTemplates.Name) throws(TemplateError) {
    let file = OwnTemplates.fileName(name)
    func refuse(_ reason: String, _ remedy: String) -> TemplateError {
      TemplateError([TemplateDiagnostic(file: file, reason: reason, remedy: remedy)])
    }
    let bytes = contents.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(contents.dropFirst(3)) : contents
    guard bytes.count <= OwnTemplates.sizeLimit else { throw refuse("more than 64 KiB", "make it shorter") }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw refuse("no UTF-8", "save it as UTF-8") }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else {
      throw refuse("holds control characters", "remove them")
    }
    var reader = TemplateReader(name)
    reader.read(bytes)
    guard reader.problems.isEmpty else { throw TemplateError(reader.problems) }
    source = String(decoding: reader.source, as: UTF8.self)
    // swift-mustache looks at Characters: a brace with a combining mark behind it is another one to it.
    for brace in "{}".utf8 {
      let count = source.count { $0.utf8.count == 1 && $0.utf8.first == brace }
      guard count == source.utf8.count(where: { $0 == brace }) else {
        throw refuse("a combining mark stands behind a brace", "put a space between them")
      }
    }
    do {
      _ = try PageTemplates(parsing: source)
    } catch {
      throw refuse("no Mustache (\(error))", "compare it with the example in Documentation/PAGES.md")
    }
  }
}

extension UInt8 {
  /// Space, tab, or an end of line.
  var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
