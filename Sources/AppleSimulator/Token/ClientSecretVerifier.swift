import Cryptography
import FoundationEssentials

/// Verifies the JWT with which a client authenticates (Apple, "Creating a client secret").
struct ClientSecretVerifier: Sendable {
  let clients: [String: SimulatedClient]
  /// Apple's current time, in seconds since 1970.
  let now: Double

  /// The longest time from now to `exp`: six months, in seconds.
  static let longestLifetime: Double = 15_777_000

  /// Authenticates the client of a form (`client_secret_post`, the only method).
  ///
  /// - Throws: `invalid_request` if `client_id` is missing or a name is repeated, `invalid_client` for everything that
  ///   is wrong with the secret.
  func client(of form: SubmittedForm) throws(EndpointRefusal) -> SimulatedClient {
    if let name = form.repeatedName {
      throw EndpointRefusal(.invalidRequest, reason: "parameter \(name) is repeated")
    }
    guard let clientID = form["client_id"] else {
      throw EndpointRefusal(.invalidRequest, reason: "client_id is missing")
    }
    guard let secret = form["client_secret"] else {
      throw EndpointRefusal(.invalidClient, reason: "client_secret is missing from the form")
    }
    guard let client = clients[clientID] else {
      throw EndpointRefusal(.invalidClient, reason: "client_id is not registered")
    }
    if let fault = fault(of: secret, client: client) {
      throw EndpointRefusal(.invalidClient, reason: "client_secret: \(fault)")
    }
    return client
  }

  private func fault(of secret: String, client: SimulatedClient) -> String? {
    let parts = secret.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header: ClientSecretHeader = Self.decode(parts[0]),
      let claims: ClientSecretClaims = Self.decode(parts[1]), let signature = base64URLDecoded(parts[2])
    else { return "not a JWT with iss, iat, exp, aud and sub" }
    guard header.alg == "ES256" else { return "alg is not ES256" }
    guard let keyID = header.kid, let pem = client.keys[keyID], let key = ES256PublicKey(pem: pem.utf8) else {
      return "kid is none of the team's keys"
    }
    guard key.isValid(signature: signature, of: secret.utf8.prefix(parts[0].count + 1 + parts[1].count)) else {
      return "the signature is not by key \(keyID)"
    }
    return claims.fault(client: client, now: now)
  }

  private static func decode<Part: Decodable>(_ text: Substring.UTF8View) -> Part? {
    base64URLDecoded(text).flatMap { try? JSONDecoder().decode(Part.self, from: $0) }
  }
}

/// The header of a client secret (RFC 7515, 4).
private struct ClientSecretHeader: Decodable {
  let alg: String?
  let kid: String?
}

/// The claims of a client secret. All are required.
private struct ClientSecretClaims: Decodable {
  let iss: String
  let iat: Double
  let exp: Double
  let aud: String
  let sub: String

  func fault(client: SimulatedClient, now: Double) -> String? {
    if iss != client.teamID { return "iss is not the Team ID" }
    if sub != client.clientID { return "sub is not the client_id" }
    if aud != IdentityTokenClaims.issuer { return "aud is not \(IdentityTokenClaims.issuer)" }
    if iat > now { return "iat is in the future" }
    if exp <= now { return "exp has passed" }
    if exp > now + ClientSecretVerifier.longestLifetime { return "exp is more than 15777000 seconds away" }
    return nil
  }
}
