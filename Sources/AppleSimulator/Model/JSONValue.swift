/// A JSON value of any kind, so that values in control requests reach tokens unchanged.
///
/// Numbers keep whether they were written as integers, so that `exp` is not turned into `1.7e+09`.
package enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number that fits 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A string, escapes resolved.
  case string(String)
  /// Elements in their order.
  case array([JSONValue])
  /// Members without their order; JSON written from it has the order of the encoder.
  case object([String: JSONValue])
}

extension JSONValue: Codable {
  package init(from decoder: any Decoder) throws {
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
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
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

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  /// A string, written in code as `"text"`.
  package init(stringLiteral value: String) { self = .string(value) }
  /// A Boolean, written in code as `true` or `false`.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer, written in code as `1`.
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue {
  /// The text of a string, nothing for any other kind.
  package var text: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The members of an object, nothing for any other kind.
  package var members: [String: JSONValue]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// A number of either kind as seconds; nil for other kinds.
  var seconds: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }
}

extension [String: JSONValue] {
  /// These members, overridden by others; a `null` there removes the member.
  func overlaid(with others: [String: JSONValue]) -> [String: JSONValue] {
    merging(others) { _, other in other }.filter { $0.value != .null || others[$0.key] != .null }
  }
}
