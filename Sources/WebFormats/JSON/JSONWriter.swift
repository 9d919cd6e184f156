/// Writes a JSON text (RFC 8259), value by value, without Foundation's encoder.
package struct JSONWriter {
  /// The text so far, in UTF-8; complete once each object and array is closed.
  package private(set) var bytes: [UInt8] = []
  private let escapesMarkup: Bool
  private var isFirst = true

  /// - Parameter escapesMarkup: whether `<` is escaped in strings.
  package init(escapesMarkup: Bool = false) { self.escapesMarkup = escapesMarkup }

  /// Writes an object.
  /// - Parameter name: the member's name inside an object; nil for an element of an array or for the whole text.
  package mutating func object(_ name: String? = nil, _ members: (inout JSONWriter) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "{"))
    isFirst = true
    members(&self)
    bytes.append(UInt8(ascii: "}"))
    isFirst = false
  }

  /// Writes an array.
  package mutating func array(_ name: String? = nil, _ elements: (inout JSONWriter) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    isFirst = true
    elements(&self)
    bytes.append(UInt8(ascii: "]"))
    isFirst = false
  }

  /// Writes a string.
  package mutating func string(_ name: String? = nil, _ value: String) {
    begin(name)
    JSONString.append(value.utf8Span.span, escapesMarkup: escapesMarkup, to: &bytes)
  }

  /// Writes a number; `null` for nil and for values that JSON cannot express.
  package mutating func number(_ name: String? = nil, _ value: Double?) {
    guard let value, value.isFinite else { return null(name) }
    begin(name)
    bytes += (Int64(exactly: value).map { "\($0)" } ?? "\(value)").utf8
  }

  /// Writes `null`.
  package mutating func null(_ name: String? = nil) {
    begin(name)
    bytes += "null".utf8
  }

  private mutating func begin(_ name: String?) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    guard let name else { return }
    JSONString.append(name.utf8Span.span, escapesMarkup: escapesMarkup, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }
}
