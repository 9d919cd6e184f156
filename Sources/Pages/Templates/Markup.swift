internal import WebFormats

/// Text that may stand in HTML, between tags or within a quoted attribute.
///
/// It comes about by escaping or from a literal of ours, in no other way; the templates take nothing else. We escape
/// scalars: as a Character, `"` with a combining mark after it is not a quotation mark.
struct Markup: Sendable, Equatable {
  let html: String

  /// Escapes text from anywhere: `&`, `<`, `>` and both quotation marks by name, control bytes other than tab and
  /// newline as U+FFFD, and directional controls left out, so that no name can turn the text around it.
  init(escaping text: String) { self.init(escapingOwn: Self.withoutDirections(text)) }

  /// A foreign name without directional controls.
  static func withoutDirections(_ text: String) -> String {
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
  init(exactly text: String) {
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

  /// Escapes a text of ours, in which foreign names have lost their directional controls already.
  init(escapingOwn text: String) {
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
  init(trusted literal: StaticString) {
    html = literal.description
  }

  static func + (left: Markup, right: Markup) -> Markup { "\(left)\(right)" }

  /// Several pieces, one a line.
  init(lines: [Markup]) {
    html = lines.map(\.html).joined(separator: "\n")
  }

  /// Hidden fields of a form, one a line.
  init(hiddenFields fields: [(name: String, value: String)]) {
    html = fields.map {
      "<input type=\"hidden\" name=\"\(Markup(escaping: $0.name).html)\" value=\"\(Markup(escaping: $0.value).html)\">"
    }.joined(separator: "\n")
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

/// A link to one of our own pages, or within the application.
struct Link: Sendable, Equatable {
  let href: Markup

  /// A path as it is. It begins with `/` and no second one, or the front page is taken for it.
  /// - Parameter origin: of the page; empty for that of the page with the link.
  init(path: String, origin: String = "") { href = Markup(escaping: origin + Self.local(path)) }

  /// The path, or the front page's.
  static func local(_ path: String) -> String {
    let bytes = Array(path.utf8.prefix(2))
    let isLocal = bytes.first == UInt8(ascii: "/") && bytes.dropFirst().allSatisfy { !"/\\".utf8.contains($0) }
    return isLocal ? path : "/"
  }

  /// A page of ours, with where to go afterwards percent-encoded after it.
  init(page: String, returnTo: String, adding parameters: String = "", origin: String = "") {
    self.init(
      path: page + "?return_to=" + PercentEncoding.encode(returnTo, keepsSlash: true) + parameters, origin: origin)
  }
}
