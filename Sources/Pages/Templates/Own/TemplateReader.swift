/// Reads a custom template and reports its problems: sections that are not closed, unknown values, values in a position
/// that their kind does not permit, and missing parts that the page requires.
struct TemplateReader {
  private(set) var problems: [TemplateDiagnostic] = []
  /// The pieces that were read.
  private(set) var pieces: [TemplateScanner.Piece] = []

  private let name: PageTemplates.Name
  private let rules: TemplateRules
  private var markup: MarkupRules
  private var open: [Opening] = []
  /// Values that are there in every case.
  private var present: Set<String> = []
  private var beginning = Beginning.undecided
  /// Whether there is the block `content`.
  private var hasContent = false
  /// Whether there is the section that the form stands in.
  private var hasFormSection = false

  /// The first part of the template, outside of sections.
  private enum Beginning {
    /// Nothing but blanks so far.
    case undecided
    /// `<!doctype`: a whole document.
    case document
    /// Any other text.
    case otherText
    /// `{{<layout}}`, around all of a page.
    case layout
  }

  /// A section, a block or the layout that has not ended yet.
  private struct Opening {
    var name: String
    var kind: Kind
    var place: TemplateDiagnostic.Place
    var follower: MarkupFollower
    var isInverted = false

    enum Kind { case section, parent, block }
  }

  init(_ name: PageTemplates.Name) {
    self.name = name
    rules = TemplateRules(name)
    markup = MarkupRules(rules)
  }

  mutating func read(_ bytes: [UInt8]) {
    var scanner = TemplateScanner(bytes)
    do throws(TemplateScanner.SyntaxError) {
      while let piece = try scanner.next() {
        pieces.append(piece)
        take(piece)
      }
    } catch {
      report(error.problem, error.remedy, at: error.place)
      return
    }
    for opening in open {
      report("\(opening.name) is opened and not closed", "end it with {{/\(opening.name)}}", at: opening.place)
    }
    if problems.isEmpty { checkWhole() }
  }

  private mutating func take(_ piece: TemplateScanner.Piece) {
    switch piece.part {
    case .text(let bytes): takeText(bytes, at: piece.place)
    case .value(let value):
      guard isInPage(at: piece.place), let kind = kind(value, at: piece.place) else { return }
      for finding in markup.value(value, kind) { report(finding.problem, finding.remedy, at: piece.place) }
      if case .within(let section) = rules.form, value == "action",
        !open.contains(where: { $0.kind == .section && !$0.isInverted && $0.name == section })
      {
        report(
          "{{action}} stands outside of {{#\(section)}}", "move the form between {{#\(section)}} and {{/\(section)}}",
          at: piece.place)
      }
      if open.allSatisfy({ $0.kind != .section || $0.name == value }) { present.insert(value) }
    case .section(let value, let isInverted):
      guard isInPage(at: piece.place), kind(value, at: piece.place) != nil else { return }
      if case .within(value) = rules.form, !isInverted { hasFormSection = true }
      open.append(
        Opening(name: value, kind: .section, place: piece.place, follower: markup.follower, isInverted: isInverted))
    case .parent(let parent): takeParent(parent, at: piece.place)
    case .block(let block): takeBlock(block, at: piece.place)
    case .end(let ended): takeEnd(ended, at: piece.place)
    case .comment: break
    }
  }

  private mutating func takeText(_ bytes: ArraySlice<UInt8>, at place: TemplateDiagnostic.Place) {
    let isBlank = bytes.allSatisfy(\.isBlank)
    if open.last?.kind == .parent || open.isEmpty && beginning == .layout {
      if !isBlank {
        report(Self.outside.problem, Self.outside.remedy, at: place)
      }
      return
    }
    if beginning == .undecided, open.isEmpty, !isBlank {
      let start = bytes.drop(while: \.isBlank).prefix(9)
      let isDocument = start.map { $0 | 0x20 }.elementsEqual("<!doctype".utf8.map { $0 | 0x20 })
      beginning = isDocument ? .document : .otherText
    }
    for (finding, offset) in markup.text(bytes) {
      report(finding.problem, finding.remedy, at: Self.place(bytes.prefix(offset), from: place))
    }
  }

  private mutating func takeParent(_ parent: String, at place: TemplateDiagnostic.Place) {
    guard name != .layout, parent == PageTemplates.Name.layout.rawValue, open.isEmpty, beginning == .undecided else {
      report("{{<\(parent)}} cannot stand here", "only {{<layout}} can, around all of a page", at: place)
      return
    }
    beginning = .layout
    open.append(Opening(name: parent, kind: .parent, place: place, follower: markup.follower))
  }

  private mutating func takeBlock(_ block: String, at place: TemplateDiagnostic.Place) {
    let isInPlace = name == .layout ? open.isEmpty : open.last?.kind == .parent
    guard isInPlace, block == "content", !hasContent, markup.follower.position == .text else {
      report(
        "{{$\(block)}} cannot stand here",
        "the layout has {{$content}}{{/content}} once, between tags; a page has it once within {{<layout}}",
        at: place)
      return
    }
    hasContent = true
    open.append(Opening(name: block, kind: .block, place: place, follower: markup.follower))
  }

  private mutating func takeEnd(_ ended: String, at place: TemplateDiagnostic.Place) {
    guard let opening = open.popLast(), opening.name.utf8.elementsEqual(ended.utf8) else {
      report("{{/\(ended)}} ends what was not begun last", "close what is open in its order", at: place)
      return
    }
    if !markup.follower.isLevel(with: opening.follower) {
      report(
        "\(ended) begins and ends at different places of the markup",
        "put whole tags or whole attribute values into it",
        at: opening.place)
    }
  }

  /// Whether something is shown where it stands, and not between the layout's tags but outside its block.
  private mutating func isInPage(at place: TemplateDiagnostic.Place) -> Bool {
    guard open.last?.kind == .parent || open.isEmpty && beginning == .layout else { return true }
    report(Self.outside.problem, Self.outside.remedy, at: place)
    return false
  }

  private static let outside = (
    problem: "this stands in the layout, but in no block", remedy: "move it between {{$content}} and {{/content}}"
  )

  private mutating func kind(_ value: String, at place: TemplateDiagnostic.Place) -> TemplateRules.Kind? {
    if let kind = rules.values[value] { return kind }
    report(
      "there is no value \(value)", "there are \(rules.values.keys.sorted().joined(separator: ", "))", at: place)
    return nil
  }

  /// Checks at the end.
  private mutating func checkWhole() {
    if beginning == .layout || name == .layout, !hasContent {
      report("there is no {{$content}}", "the page stands between {{$content}} and {{/content}}")
    }
    if beginning == .undecided || beginning == .otherText {
      report(
        "it does not begin with <!doctype html>",
        name == .layout ? "it is a whole document" : "write a whole document, or begin with {{<layout}}{{$content}}")
    }
    let requirements = rules.requirements + (beginning == .layout ? [] : TemplateRules.standalone(name))
    for requirement in requirements where !requirement.anyOf.contains(where: present.contains) {
      let names = requirement.anyOf.map { "{{\($0)}}" }.joined(separator: " or ")
      report("\(names) is missing: \(requirement.purpose)", "write it where it holds in every case, in no section")
    }
    if case .within(let section) = rules.form, hasFormSection, markup.forms != 1 {
      report(
        "{{#\(section)}} has \(markup.forms) forms",
        "write one within it: <form method=\"post\" action=\"{{action}}\">, {{fields}}, a button, </form>")
    }
    for finding in markup.end() { report(finding.problem, finding.remedy) }
  }

  private mutating func report(_ problem: String, _ remedy: String, at place: TemplateDiagnostic.Place? = nil) {
    problems.append(
      TemplateDiagnostic(file: OwnTemplates.fileName(name), place: place, problem: problem, remedy: remedy))
  }

  private static func place(
    _ passed: ArraySlice<UInt8>, from place: TemplateDiagnostic.Place
  ) -> TemplateDiagnostic.Place {
    passed.reduce(into: place) { place, byte in
      if byte == 0x0A { place = .init(line: place.line + 1, column: 1) } else { place.column += 1 }
    }
  }
}
