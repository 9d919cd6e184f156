/// The text of a statement. It is made of literals of the source and of other statements, and of nothing else: what
/// comes from outside is a `Parameter`.
struct SQL: Sendable, ExpressibleByStringInterpolation {
  let text: String

  init(stringLiteral value: StaticString) { text = "\(value)" }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }

    mutating func appendInterpolation(_ part: SQL) { text += part.text }
  }
}

/// A statement with what it is to be carried out with.
struct Statement: Sendable {
  let text: SQL
  let parameters: [Parameter]

  init(_ text: SQL, _ parameters: [Parameter] = []) {
    self.text = text
    self.parameters = parameters
  }
}
