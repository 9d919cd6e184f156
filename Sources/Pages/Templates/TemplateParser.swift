/// Compiles the pieces of a template.
///
/// Any sequence of pieces results in a template: ``TemplateReader`` reports what is wrong with an operator's, and a
/// test holds ours to the same rules.
///
/// White space is treated as the Mustache specification says:
/// - A section's tag or a comment alone on a line takes the line with it.
/// - The layout in a page is alone on its lines if nothing but blanks stands before its first and after its last tag.
///   The page's block may begin anywhere in it.
/// - The block of a page loses the indentation of its first line from all lines, and gets that of the place in the
///   layout (``Template/Step/insertion(indentation:)``).
struct TemplateParser {
  static func parse(_ pieces: [TemplateScanner.Piece]) -> Template {
    var parser = TemplateParser(lines: TemplateLines(pieces))
    for index in pieces.indices { parser.take(pieces[index].part, at: index) }
    while !parser.open.isEmpty { parser.end() }
    return Template(steps: parser.steps, content: parser.content)
  }

  private let lines: TemplateLines
  private var steps: [Template.Step] = []
  private var content: [Template.Step]?
  private var open: [Opening] = []
  /// Whether what stands here is part of a page: neither between the layout's tags outside of the block, nor the
  /// default content of the layout's block, which every page replaces.
  private var isShown = true
  /// Whether the tag before took the rest of its line with it.
  private var isLineTaken = false
  /// The indentation that the lines of a page's block lose; nil outside of it.
  private var indentation: BlockIndentation?

  /// A section, a block or the layout that has not ended yet.
  private struct Opening {
    var kind: Kind
    var wasShown: Bool

    enum Kind {
      /// The index of its step, if there is one.
      case section(step: Int?)
      /// The layout, with the steps before it.
      case parent(before: [Template.Step])
      /// The block of a page.
      case block
      /// The block of the layout.
      case place
    }
  }

  private init(lines: TemplateLines) { self.lines = lines }

  private mutating func take(_ part: TemplateScanner.Part, at index: Int) {
    switch part {
    case .text(let bytes): takeText(bytes, at: index)
    case .comment: isLineTaken = lines.isAlone(index)
    case .value(let name):
      isLineTaken = false
      if isShown { steps.append(.value(name)) }
    case .section(let name, let isInverted):
      isLineTaken = lines.isAlone(index)
      begin(.section(step: isShown ? steps.count : nil), isShown: isShown)
      // Its end is not known yet.
      if isShown { steps.append(.section(name, isInverted: isInverted, end: steps.count + 1)) }
    case .parent:
      if isShown { steps.append(.insertion(indentation: lines.indentation(before: index))) }
      begin(.parent(before: steps), isShown: false)
      steps = []
    case .block: takeBlock(at: index)
    case .end:
      if case .parent? = open.last?.kind {
        isLineTaken = lines.endsLine(index)
      } else {
        isLineTaken = lines.isAlone(index)
      }
      end()
    }
  }

  private mutating func takeBlock(at index: Int) {
    if case .parent? = open.last?.kind {
      isLineTaken = lines.endsLine(index)
      begin(.block, isShown: true)
      indentation = BlockIndentation()
    } else {
      isLineTaken = lines.isAlone(index)
      if isShown { steps.append(.insertion(indentation: lines.indentation(before: index))) }
      begin(.place, isShown: false)
    }
  }

  private mutating func takeText(_ bytes: ArraySlice<UInt8>, at index: Int) {
    guard isShown else { return }
    let beginsLine = isLineTaken || index == 0
    let rest = isLineTaken ? TemplateLines.behindFirstLine(bytes) : bytes
    var text = indentation?.remove(from: rest, beginsLine: beginsLine) ?? Array(rest)
    if lines.losesIndentation(index + 1) { text.removeLast(text.reversed().prefix(while: \.isIndentation).count) }
    if !text.isEmpty { steps.append(.text(text)) }
  }

  private mutating func begin(_ kind: Opening.Kind, isShown: Bool) {
    open.append(Opening(kind: kind, wasShown: self.isShown))
    self.isShown = isShown
  }

  /// Ends what was begun last, if anything was.
  private mutating func end() {
    guard let opening = open.popLast() else { return }
    switch opening.kind {
    case .section(let index?):
      if case .section(let name, let isInverted, _) = steps[index] {
        steps[index] = .section(name, isInverted: isInverted, end: steps.count)
      }
    case .section(nil), .place: break
    case .block: indentation = nil
    case .parent(let before): (content, steps) = (steps, before)
    }
    isShown = opening.wasShown
  }
}
