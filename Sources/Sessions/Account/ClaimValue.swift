/// The value of a claim: one scalar of JSON. Lists and objects are not kept.
package enum ClaimValue: Sendable, Hashable, Codable {
  /// A string.
  case text(String)
  /// A number without a fraction.
  case integer(Int64)
  /// Any other number.
  case decimal(Double)
  /// A Boolean.
  case truth(Bool)

  /// As an identity header shows it: text as it is, numbers in decimal, Booleans as `true` and `false`.
  package var headerText: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .decimal(let number): String(number)
    case .truth(let truth): truth ? "true" : "false"
    }
  }

  /// From a scalar of JSON.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Most are text. Each attempt that fails makes an error, which costs more than the rest; only one can succeed, but
    // for a number that is whole.
    if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let truth = try? container.decode(Bool.self) {
      self = .truth(truth)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else {
      self = .decimal(try container.decode(Double.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .integer(let number): try container.encode(number)
    case .decimal(let number): try container.encode(number)
    case .truth(let truth): try container.encode(truth)
    }
  }
}
