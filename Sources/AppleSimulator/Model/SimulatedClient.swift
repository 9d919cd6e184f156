import Cryptography

/// A client as it is registered in Apple's developer portal: a Services ID (web) or an App ID (native).
package struct SimulatedClient: Sendable, Equatable, Codable {
  /// The Services ID or App ID. Case-sensitive, and never with the Team ID in it.
  package var clientID: String
  /// Whether browsers may come with it. Default: web.
  package var kind: Kind
  /// The 10-character Team ID.
  package var teamID: String
  /// The team's keys: the public half (PEM, `BEGIN PUBLIC KEY`) of each `.p8`, by its 10-character key ID.
  package var keys: [String: String]
  /// The registered redirect URIs (web only). Compared as bytes.
  package var redirectURIs: [String]
  /// Until when its users' tokens carry `transfer_sub`, in seconds since 1970. Default: it never changed its team.
  package var transferEnds: Double?

  /// The two kinds of identifiers that Apple registers. They differ in the redirect URI, which only browsers have.
  package enum Kind: String, Sendable, Codable {
    /// A Services ID, for browsers.
    case web
    /// An App ID. Its apps get the code without a redirect.
    case native
  }

  /// A registration without a transfer in progress.
  package init(
    clientID: String, kind: Kind = .web, teamID: String, keys: [String: String], redirectURIs: [String] = []
  ) {
    self.clientID = clientID
    self.kind = kind
    self.teamID = teamID
    self.keys = keys
    self.redirectURIs = redirectURIs
  }

  enum CodingKeys: String, CodingKey {
    case clientID = "client_id"
    case kind
    case teamID = "team_id"
    case keys
    case redirectURIs = "redirect_uris"
    case transferEnds = "transfer_ends"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    clientID = try container.decode(String.self, forKey: .clientID)
    kind = try container.decodeIfPresent(Kind.self, forKey: .kind) ?? .web
    teamID = try container.decode(String.self, forKey: .teamID)
    keys = try container.decode([String: String].self, forKey: .keys)
    redirectURIs = try container.decodeIfPresent([String].self, forKey: .redirectURIs) ?? []
    transferEnds = try container.decodeIfPresent(Double.self, forKey: .transferEnds)
  }
}

/// The reason why the portal would refuse a registration.
package struct RegistrationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The field that is wrong, by its JSON name.
  package let field: String
  /// The problem and its remedy.
  package let message: String

  package var description: String { "\(field): \(message)" }
}

extension SimulatedClient {
  /// Checks a registration as Apple's portal does.
  ///
  /// - Parameter allowingLoopback: also take `http://localhost` and the like, which Apple never does, for gateways
  ///   under test.
  package func validate(allowingLoopback: Bool) throws(RegistrationError) {
    guard Self.isTenCharacters(teamID) else {
      throw RegistrationError(field: "team_id", message: "a Team ID is ten letters and digits, as in DEF123GHIJ")
    }
    guard !clientID.isEmpty, clientID.utf8.allSatisfy(Self.isIdentifierByte) else {
      throw RegistrationError(field: "client_id", message: "letters, digits, dots and hyphens, as in com.example.web")
    }
    guard !clientID.contains(teamID) else {
      throw RegistrationError(field: "client_id", message: "must not contain the Team ID")
    }
    for (keyID, pem) in keys {
      guard Self.isTenCharacters(keyID) else {
        throw RegistrationError(field: "keys", message: "a key ID is ten letters and digits, as in ABC123DEFG")
      }
      guard ES256PublicKey(pem: pem.utf8) != nil else {
        throw RegistrationError(field: "keys", message: "key \(keyID) is not a P-256 public key in PEM")
      }
    }
    for uri in redirectURIs {
      if let problem = RedirectURIRules.problem(of: uri, allowingLoopback: allowingLoopback) {
        throw RegistrationError(field: "redirect_uris", message: "\(uri): \(problem)")
      }
    }
  }

  private static func isTenCharacters(_ text: String) -> Bool {
    text.utf8.count == 10 && text.utf8.allSatisfy { isAlphanumeric($0) }
  }

  private static func isIdentifierByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
