import Cryptography

/// A user with an Apple Account.
package struct SimulatedUser: Sendable, Equatable, Codable {
  /// A short handle for tests and the page's control ids (`user-anna`). Not what clients see.
  package var id: String
  /// The given name, which clients get once: at the user's first authorization.
  package var firstName: String
  /// The family name, at the same time.
  package var lastName: String
  /// The account's address. Nothing for a Managed Apple Account without one (Work & School).
  package var email: String?
  /// Default: true.
  package var emailVerified: Bool
  /// `real_user_status` that native apps get: 0 unsupported, 1 unknown, 2 likely real. Default: 2.
  package var realUserStatus: Int64
  /// The `sub` that every team gets. Default: one for each team, derived from the handle.
  package var subject: String?
  /// `transfer_sub`, present for 60 days after an app changed its team. Default: none.
  package var transferSubject: String?
  /// `org_id` of a Managed Apple Account. Default: none.
  package var organizationID: String?
  /// More claims for this user's identity tokens; they win over the computed ones. Default: none.
  package var claims: [String: JSONValue]

  /// A likely real person (`real_user_status` 2) whose `sub` is derived from the handle.
  package init(id: String, firstName: String, lastName: String, email: String?, emailVerified: Bool = true) {
    self.id = id
    self.firstName = firstName
    self.lastName = lastName
    self.email = email
    self.emailVerified = emailVerified
    realUserStatus = 2
    claims = [:]
  }

  enum CodingKeys: String, CodingKey {
    case id, email, claims, subject
    case firstName = "first_name"
    case lastName = "last_name"
    case emailVerified = "email_verified"
    case realUserStatus = "real_user_status"
    case transferSubject = "transfer_sub"
    case organizationID = "org_id"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    firstName = try container.decodeIfPresent(String.self, forKey: .firstName) ?? ""
    lastName = try container.decodeIfPresent(String.self, forKey: .lastName) ?? ""
    email = try container.decodeIfPresent(String.self, forKey: .email)
    emailVerified = try container.decodeIfPresent(Bool.self, forKey: .emailVerified) ?? true
    realUserStatus = try container.decodeIfPresent(Int64.self, forKey: .realUserStatus) ?? 2
    subject = try container.decodeIfPresent(String.self, forKey: .subject)
    transferSubject = try container.decodeIfPresent(String.self, forKey: .transferSubject)
    organizationID = try container.decodeIfPresent(String.self, forKey: .organizationID)
    claims = try container.decodeIfPresent([String: JSONValue].self, forKey: .claims) ?? [:]
  }

  /// The built-in users: an ordinary one, and one for each special case of production.
  package static var builtIn: [SimulatedUser] {
    var managed = SimulatedUser(id: "dana", firstName: "Dana", lastName: "Wu", email: nil)
    managed.organizationID = "6f3f8e5a-school"
    return [
      SimulatedUser(id: "anna", firstName: "Anna", lastName: "Bergström", email: "anna.bergstrom@example.com"),
      SimulatedUser(id: "ben", firstName: "Ben", lastName: "Okafor", email: "ben@example.org"),
      SimulatedUser(id: "eleni", firstName: "Ελένη", lastName: "Παπαδοπούλου", email: "eleni@example.com"),
      managed,
      SimulatedUser(
        id: "eve", firstName: "Eve", lastName: "Unverified", email: "eve@example.net", emailVerified: false),
    ]
  }
}

extension SimulatedUser {
  /// The `sub` that the apps of a team know this user by: stable, and another one for another team.
  ///
  /// Apple's have the shape `000123.0123456789abcdef0123456789abcdef.0123`.
  package func subject(forTeam teamID: String) -> String {
    if let subject { return subject }
    let hex = Self.hex(SHA256.hash("\(teamID) \(id)".utf8))
    let digits = hex.utf8.map { $0 % 10 }.map { String($0) }
    return "00\(digits[32..<36].joined()).\(hex.prefix(32)).\(digits[36..<40].joined())"
  }

  /// The address of Apple's mail relay for this user and a team's apps, used when the real one is hidden.
  package func relayAddress(forTeam teamID: String) -> String {
    let hex = Self.hex(SHA256.hash("relay \(teamID) \(id)".utf8))
    return "\(hex.prefix(10))@privaterelay.appleid.com"
  }

  /// The transfer identifier of this user while an app moves to another team.
  func transferSubject(toTeam teamID: String) -> String {
    let hex = Self.hex(SHA256.hash("transfer \(teamID) \(id)".utf8))
    return "r\(hex.prefix(40))"
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
