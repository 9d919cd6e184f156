internal import WebFormats

/// Markup of the status page: literals are kept, interpolated values are escaped unless they are markup.
struct HTMLText: Sendable, ExpressibleByStringInterpolation {
  private(set) var html = ""

  init() {}
  init(stringLiteral literal: String) { html = literal }
  init(stringInterpolation interpolation: Interpolation) { html = interpolation.html }

  static func += (text: inout HTMLText, more: HTMLText) { text.html += more.html }

  /// Concatenates parts.
  init(_ parts: [HTMLText]) { html = parts.map(\.html).joined() }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = ""

    init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: String) { html += literal }
    mutating func appendInterpolation(_ text: HTMLText) { html += text.html }
    mutating func appendInterpolation(_ number: some BinaryInteger) { html += "\(number)" }
    mutating func appendInterpolation(_ text: String) {
      for scalar in text.unicodeScalars {
        if let reference = HTMLReference.of(scalar) {
          html += reference
          continue
        }
        switch scalar {
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
          html += "\u{FFFD}"
        default: html.unicodeScalars.append(scalar)
        }
      }
    }
  }
}
