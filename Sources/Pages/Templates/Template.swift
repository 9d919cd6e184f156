/// A template in the form in which it is rendered: a list of steps.
///
/// Sections are jumps within the list, not lists of their own, so neither rendering a template nor freeing it recurses,
/// however deeply its sections are nested. Values are ``Markup``, escaped before; there is no other kind.
struct Template: Sendable, Equatable {
  /// The steps; in a page within the layout, those around its content.
  var steps: [Step]
  /// The content that a page puts into the layout; nil for the layout itself, and for a page that is a whole document.
  var content: [Step]?

  enum Step: Sendable, Equatable {
    case text([UInt8])
    /// The value of this name; nothing if there is none.
    case value(String)
    /// Continues at the step `end`, which is after this one, unless there is a value of this name; an inverted section
    /// if there is.
    case section(String, isInverted: Bool, end: Int)
    /// The place of the layout in a page, and of the page's content in the layout. Blanks before it on its line indent
    /// the lines of what is put in.
    case insertion(indentation: [UInt8])
    /// Indents the lines that follow by more blanks.
    case indent([UInt8])
    /// Takes back as many blanks of the indentation.
    case outdent(Int)
  }

  /// This page within a layout, as one list of steps. A page that is a whole document is returned as it is.
  func joined(to layout: Template) -> Template {
    guard let content else { return self }
    let filled = Self.insert(content, into: layout.steps)
    return Template(steps: Self.insert(filled, into: steps), content: nil)
  }

  /// Replaces each insertion, and shifts the ends of sections accordingly.
  private static func insert(_ inner: [Step], into outer: [Step]) -> [Step] {
    // The index in the result at which each step of `outer` begins, and the length of the result.
    var places: [Int] = []
    var count = 0
    for step in outer {
      places.append(count)
      if case .insertion(let indentation) = step {
        count += inner.count + (indentation.isEmpty ? 0 : 2)
      } else {
        count += 1
      }
    }
    places.append(count)
    var result: [Step] = []
    result.reserveCapacity(count)
    for step in outer {
      switch step {
      case .section(let name, let isInverted, let end):
        result.append(.section(name, isInverted: isInverted, end: places[end]))
      case .insertion(let indentation):
        if !indentation.isEmpty { result.append(.indent(indentation)) }
        let start = result.count
        for step in inner {
          if case .section(let name, let isInverted, let end) = step {
            result.append(.section(name, isInverted: isInverted, end: start + end))
          } else {
            result.append(step)
          }
        }
        if !indentation.isEmpty { result.append(.outdent(indentation.count)) }
      case .text, .value, .indent, .outdent: result.append(step)
      }
    }
    return result
  }

  /// Whether it has a section of this name, not inverted.
  func hasSection(_ name: String) -> Bool {
    (steps + (content ?? [])).contains { step in
      if case .section(name, isInverted: false, end: _) = step { true } else { false }
    }
  }
}
