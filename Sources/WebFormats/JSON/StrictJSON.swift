/// Untrusted JSON (RFC 8259), parsed strictly and within limits.
///
/// Foundation's decoder is not used: it determines the type of a value by trying each, so that 30 KB of empty objects
/// take half a second, and it accepts trailing commas and repeated names. Repeated names are refused here, because
/// another parser may use the other one.
package enum StrictJSON: Sendable, Equatable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without fraction and exponent that fits 64 bits.
  case integer(Int64)
  /// Any other number. A number that no Double can hold makes the whole text unreadable.
  case number(Double)
  /// A string, its escapes resolved.
  case string(String)
  /// An array, in its order.
  case array([StrictJSON])
  /// An object; no name occurs twice.
  case object([String: StrictJSON])

  /// Parses a JSON object.
  /// - Parameters:
  ///   - maximumBytes: longer text is refused before it is parsed.
  ///   - maximumDepth: the number of brackets and braces that may be open at a time.
  package static func object(
    _ text: some Collection<UInt8>, maximumBytes: Int, maximumDepth: Int
  ) throws(StrictJSONError) -> [String: StrictJSON] {
    guard case .object(let members) = try value(text, maximumBytes: maximumBytes, maximumDepth: maximumDepth) else {
      throw .malformed
    }
    return members
  }

  /// Parses a JSON value of any kind.
  /// - Parameters:
  ///   - maximumBytes: longer text is refused before it is parsed.
  ///   - maximumDepth: the number of brackets and braces that may be open at a time.
  package static func value(
    _ text: some Collection<UInt8>, maximumBytes: Int, maximumDepth: Int
  ) throws(StrictJSONError) -> StrictJSON {
    guard text.count <= maximumBytes else { throw .tooLarge }
    guard String(validating: text, as: UTF8.self) != nil else { throw .notUTF8 }
    var reader = StrictJSONReader(bytes: Array(text), maximumDepth: maximumDepth)
    return try reader.wholeText()
  }

  /// The string, if this is one.
  package var text: String? { if case .string(let text) = self { text } else { nil } }
  /// The elements, if this is an array.
  package var elements: [StrictJSON]? { if case .array(let elements) = self { elements } else { nil } }
  /// The members, if this is an object.
  package var members: [String: StrictJSON]? { if case .object(let members) = self { members } else { nil } }
}

/// A reason why untrusted JSON was refused.
package enum StrictJSONError: Error, Sendable, Equatable {
  /// Longer than the caller's limit.
  case tooLarge
  /// More open brackets and braces than the caller's limit.
  case tooDeep
  /// Bytes that are not UTF-8.
  case notUTF8
  /// Not JSON, or not an object.
  case malformed

  /// The reason, for a log line.
  package var reason: String {
    switch self {
    case .tooLarge: "the JSON text is too long"
    case .tooDeep: "the JSON text nests too deep"
    case .notUTF8: "the JSON text is not UTF-8"
    case .malformed: "the text is not a JSON object"
    }
  }
}
