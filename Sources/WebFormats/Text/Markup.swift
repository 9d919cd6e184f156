/// Text that may stand in HTML, between tags or within a quoted attribute.
///
/// It is made by escaping or from a literal of the source, in no other way; the templates take nothing else. Scalars
/// are escaped: as a Character, `"` with a combining mark after it is not a quotation mark.
package struct Markup: Sendable, Equatable {
  /// The text of the page.
  package private(set) var html: String

  /// Escapes text from anywhere: `&`, `<`, `>` and both quotation marks by name, control bytes other than tab and
  /// newline as U+FFFD, and directional controls left out, so that no name can turn the text around it.
  package init(escaping text: String) { self.init(escapingOwn: Self.withoutDirections(text)) }

  /// A foreign name without directional controls.
  package static func withoutDirections(_ text: String) -> String {
    // All of them are outside of ASCII, as few texts are.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": break
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// Escapes a value that a form is to submit as it is: nothing is left out. NUL cannot stand in HTML.
  package init(exactly text: String) {
    html = Self.escape(text) { scalar, bytes in
      switch scalar {
      case "\u{0}": bytes += "\u{FFFD}".utf8
      // Parsers take a carriage return for a newline.
      case "\r", "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
        bytes += "&#\(scalar.value);".utf8
      default: bytes.append(scalar)
      }
    }
  }

  /// Escapes one of our own texts, in which foreign names have lost their directional controls already.
  package init(escapingOwn text: String) {
    html = Self.escape(text) { scalar, bytes in
      switch scalar {
      case "\t", "\n": bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": bytes += "\u{FFFD}".utf8
      default: bytes.append(scalar)
      }
    }
  }

  /// Replaces the characters that mean something in HTML by their references.
  /// - Parameter append: appends any other scalar.
  @inline(__always)
  private static func escape(_ text: String, append: (Unicode.Scalar, inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if let reference = HTMLReference.of(scalar) { bytes += reference.utf8 } else { append(scalar, &bytes) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Markup of our own.
  package init(trusted literal: StaticString) {
    html = literal.description
  }

  /// Both, one after the other.
  package static func + (left: Markup, right: Markup) -> Markup { "\(left)\(right)" }

  /// Appends markup.
  package static func += (left: inout Markup, right: Markup) { left.html += right.html }

  /// Several pieces, one after the other.
  package init(joining parts: [Markup]) { html = parts.map(\.html).joined() }

  /// Several pieces, one a line.
  package init(lines: [Markup]) { html = lines.map(\.html).joined(separator: "\n") }
}

/// Markup with values in it: what stands in the literal is ours and stays, whatever is put in is escaped, but for what
/// is markup already.
extension Markup: ExpressibleByStringInterpolation {
  /// Markup of our own.
  package init(stringLiteral literal: String) { html = literal }

  /// Markup of our own with values.
  package init(stringInterpolation interpolation: Interpolation) { html = interpolation.html }

  /// Collects literals and escaped values.
  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = ""

    /// Begins with an empty text.
    package init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity * 2) }

    /// Appends a literal as it is.
    package mutating func appendLiteral(_ literal: String) { html += literal }

    /// Appends markup as it is.
    package mutating func appendInterpolation(_ markup: Markup) { html += markup.html }

    /// Appends text, escaped.
    package mutating func appendInterpolation(_ text: String) { html += Markup(escaping: text).html }

    /// Appends a number.
    package mutating func appendInterpolation(_ number: some BinaryInteger) { html += "\(number)" }
  }
}

extension [UInt8] {
  /// Appends a scalar in UTF-8.
  fileprivate mutating func append(_ scalar: Unicode.Scalar) {
    if scalar.isASCII {
      append(UInt8(truncatingIfNeeded: scalar.value))
    } else if let encoded = UTF8.encode(scalar) {
      append(contentsOf: encoded)
    }
  }
}
