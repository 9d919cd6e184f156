/// The text of a statement. Only literals in the source, other statements and the places of parameters can be part of
/// it: untrusted values are passed as `Parameter`.
struct SQL: Sendable, ExpressibleByStringInterpolation {
  let text: String

  init(stringLiteral value: StaticString) { text = "\(value)" }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  private init(text: String) { self.text = text }

  /// The places of the first parameters of a statement: `$1, $2, …`.
  static func places(_ count: Int) -> SQL {
    SQL(text: (1...count).map { "$\($0)" }.joined(separator: ", "))
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }

    mutating func appendInterpolation(_ part: SQL) { text += part.text }
  }
}

/// A statement and its parameters.
struct Statement: Sendable {
  let text: SQL
  let parameters: [Parameter]

  init(_ text: SQL, _ parameters: [Parameter] = []) {
    self.text = text
    self.parameters = parameters
  }
}
