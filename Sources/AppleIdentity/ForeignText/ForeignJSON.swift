internal import FoundationEssentials

/// JSON that somebody else wrote (RFC 8259), read within bounds: its size, its depth and its encoding are judged before
/// Foundation's decoder sees it.
enum ForeignJSON: Sendable, Equatable, Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Any other number. Numbers that no Double can hold make the whole text unreadable.
  case number(Double)
  case string(String)
  case array([ForeignJSON])
  case object([String: ForeignJSON])

  /// Reads a JSON object.
  /// - Parameters:
  ///   - maximumBytes: longer text is refused before anything else happens.
  ///   - maximumDepth: how many brackets and braces may be open at a time.
  static func object(
    _ bytes: some Collection<UInt8>, maximumBytes: Int, maximumDepth: Int
  ) throws(ForeignJSONProblem) -> [String: ForeignJSON] {
    guard bytes.count <= maximumBytes else { throw .tooLarge }
    guard depth(of: bytes) <= maximumDepth else { throw .tooDeep }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
    guard let object = try? JSONDecoder().decode([String: ForeignJSON].self, from: Data(bytes)) else {
      throw .notAnObject
    }
    return object
  }

  var text: String? { if case .string(let text) = self { text } else { nil } }
  var elements: [ForeignJSON]? { if case .array(let elements) = self { elements } else { nil } }
  var members: [String: ForeignJSON]? { if case .object(let members) = self { members } else { nil } }

  /// How deep brackets nest, by counting outside of strings. For text that is not JSON the number means nothing, and
  /// the decoder refuses it afterwards.
  private static func depth(of bytes: some Collection<UInt8>) -> Int {
    var open = 0
    var deepest = 0
    var inString = false
    var escaped = false
    for byte in bytes {
      if inString {
        if escaped {
          escaped = false
        } else if byte == UInt8(ascii: "\\") {
          escaped = true
        } else if byte == UInt8(ascii: "\"") {
          inString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): inString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open += 1
        deepest = max(deepest, open)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      default: break
      }
    }
    return deepest
  }
}

/// Why JSON from outside was not read.
enum ForeignJSONProblem: Error, Sendable, Equatable {
  case tooLarge, tooDeep, notUTF8, notAnObject

  var reason: String {
    switch self {
    case .tooLarge: "the JSON text is too long"
    case .tooDeep: "the JSON text nests too deep"
    case .notUTF8: "the JSON text is not UTF-8"
    case .notAnObject: "the text is not a JSON object"
    }
  }
}

extension ForeignJSON {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([ForeignJSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: ForeignJSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
