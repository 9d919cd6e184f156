/// The content of an assertion for one session.
package struct AssertionStatement: Sendable, Hashable {
  /// `sid`: the session's public ID, a hash from which no cookie can be made.
  package var session: String
  /// `sub`.
  package var subject: String
  /// Everything else, by name.
  package var claims: [String: AssertionValue]

  /// The content for a session. `claims` must not hold ``AssertionSettings/registeredClaims``.
  package init(session: String, subject: String, claims: [String: AssertionValue]) {
    self.session = session
    self.subject = subject
    self.claims = claims
  }
}

/// The value of a claim.
package indirect enum AssertionValue: Sendable, Hashable, Codable {
  /// A JSON string.
  case text(String)
  /// A JSON number without a fraction, in the range of 64 bits.
  case integer(Int64)
  /// Any other JSON number.
  case decimal(Double)
  /// `true` or `false`.
  case truth(Bool)
  /// A JSON array.
  case list([AssertionValue])
  /// A JSON object.
  case members([String: AssertionValue])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let truth = try? container.decode(Bool.self) {
      self = .truth(truth)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .decimal(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([AssertionValue].self) {
      self = .list(list)
    } else {
      self = .members(try container.decode([String: AssertionValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .integer(let number): try container.encode(number)
    case .decimal(let number): try container.encode(number)
    case .truth(let truth): try container.encode(truth)
    case .list(let list): try container.encode(list)
    case .members(let members): try container.encode(members)
    }
  }
}
