internal import WebFormats

/// The claims of a verified identity token, except its subject.
///
/// Every claim with a single value is kept as text, because any of them can be used as an identity header: a string
/// as it is, a Boolean as `true` or `false`, an integer in digits, a list of strings joined by spaces. Apple writes
/// some Booleans as strings, so text is also what makes the two alike. Codable as a flat JSON object of strings.
package struct IdentityClaims: Sendable, Equatable {
  /// Text by claim name.
  package let values: [String: String]

  /// - Parameter values: text by claim name, for claims that were stored.
  package init(values: [String: String] = [:]) {
    self.values = values
  }

  /// The text of a claim; `nil` if the token had none, or an object, a `null`, or nothing in it.
  package func text(of claim: String) -> String? {
    guard let text = values[claim], !text.isEmpty else { return nil }
    return text
  }

  /// May be absent (Work & School accounts). Never an identifier.
  package var email: String? { text(of: "email") }
  /// `nil` if the token does not say.
  package var isEmailVerified: Bool? { flag("email_verified") }
  /// Whether the address is one of Apple's relay addresses; `nil` if the token does not say.
  package var isPrivateEmail: Bool? { flag("is_private_email") }
  /// Native apps only: 0 unsupported, 1 unknown, 2 likely real.
  package var realUserStatus: Int? {
    switch text(of: "real_user_status") {
    case "0": 0
    case "1": 1
    case "2": 2
    default: nil
    }
  }
  /// The subject under the new team, for the 60 days after an app changed team.
  package var transferSubject: String? { text(of: "transfer_sub") }
  /// The organization of a Managed Apple Account.
  package var organizationID: String? { text(of: "org_id") }
  /// The scopes that a Managed Apple Account granted, separated by spaces.
  package var scopes: String? { text(of: "scopes") }

  func flag(_ claim: String) -> Bool? {
    switch text(of: claim) {
    case "true": true
    case "false": false
    default: nil
    }
  }
}

extension IdentityClaims: Codable {
  /// From the values that the encoder wrote.
  package init(from decoder: any Decoder) throws {
    values = try decoder.singleValueContainer().decode([String: String].self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }
}

extension IdentityClaims {
  /// The claims of a payload, and of those the first 64 names in order, with texts of up to 2 KiB.
  init(payload: [String: StrictJSON]) {
    var values: [String: String] = [:]
    for (name, value) in payload.sorted(by: { $0.key < $1.key }) {
      guard values.count < 64, name.utf8.count <= 128, let text = Self.text(value), text.utf8.count <= 2048 else {
        continue
      }
      values[name] = text
    }
    self.init(values: values)
  }

  private static func text(_ value: StrictJSON) -> String? {
    switch value {
    case .string(let text): text
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .number(let number): "\(number)"
    case .array(let elements):
      elements.isEmpty || elements.contains { $0.text == nil }
        ? nil : elements.compactMap(\.text).joined(separator: " ")
    case .object, .null: nil
    }
  }
}
