/// Markup with values in it: what stands in the literal is ours and stays, whatever is put in is escaped, but for what
/// is markup already.
extension Markup: ExpressibleByStringInterpolation {
  init(stringLiteral literal: String) { html = literal }

  init(stringInterpolation interpolation: Interpolation) { html = interpolation.html }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = ""

    init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: String) { html += literal }
    mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
    mutating func appendInterpolation(_ text: String) { html += Markup(escaping: text).html }
    mutating func appendInterpolation(_ number: Int) { html += "\(number)" }
  }
}
