/// JSON that somebody else wrote (RFC 8259), read strictly and within bounds.
///
/// Foundation's decoder is not used: it finds out what a value is by failing at everything that it is not, so that 30 KB
/// of empty objects cost half a second, and it takes trailing commas and repeated names. Repeated names are refused
/// here, because the next reader may take the other one.
package enum ForeignJSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Any other number. A number that no Double can hold makes the whole text unreadable.
  case number(Double)
  case string(String)
  case array([ForeignJSON])
  case object([String: ForeignJSON])

  /// Reads a JSON object.
  /// - Parameters:
  ///   - maximumBytes: longer text is refused before anything else happens.
  ///   - maximumDepth: how many brackets and braces may be open at a time.
  package static func object(
    _ text: some Collection<UInt8>, maximumBytes: Int, maximumDepth: Int
  ) throws(ForeignJSONProblem) -> [String: ForeignJSON] {
    guard text.count <= maximumBytes else { throw .tooLarge }
    guard String(validating: text, as: UTF8.self) != nil else { throw .notUTF8 }
    var reader = ForeignJSONReader(bytes: Array(text), maximumDepth: maximumDepth)
    guard case .object(let members) = try reader.wholeText() else { throw .malformed }
    return members
  }

  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var elements: [ForeignJSON]? { if case .array(let elements) = self { elements } else { nil } }
  package var members: [String: ForeignJSON]? { if case .object(let members) = self { members } else { nil } }
}

/// Why JSON from outside was not read.
package enum ForeignJSONProblem: Error, Sendable, Equatable {
  case tooLarge, tooDeep, notUTF8
  /// Not JSON, or not an object.
  case malformed

  package var reason: String {
    switch self {
    case .tooLarge: "the JSON text is too long"
    case .tooDeep: "the JSON text nests too deep"
    case .notUTF8: "the JSON text is not UTF-8"
    case .malformed: "the text is not a JSON object"
    }
  }
}
