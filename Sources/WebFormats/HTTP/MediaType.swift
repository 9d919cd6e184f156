/// Media types as header fields have them (RFC 9110, 8.3.1): `text/html; charset=utf-8`.
package enum MediaType {
  /// Type and subtype in lower case, without white space and parameters.
  /// - Parameter value: a `Content-Type`, or one element of an `Accept` list.
  package static func withoutParameters(_ value: some Collection<UInt8>) -> [UInt8] {
    value.drop { $0.isOptionalWhitespace }
      .prefix { $0 != UInt8(ascii: ";") && !$0.isOptionalWhitespace }
      .map(\.asciiLowercased)
  }

  /// Whether a field names this type, whatever its parameters.
  /// - Parameter type: in lower case.
  package static func matches(_ value: String?, _ type: String) -> Bool {
    value.map { withoutParameters($0.utf8).elementsEqual(type.utf8) } ?? false
  }
}
