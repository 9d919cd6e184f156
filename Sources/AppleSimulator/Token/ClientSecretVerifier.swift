import FoundationEssentials
import JWTKit

/// Judges the JWT by which a client proves who it is (Apple, "Creating a client secret").
struct ClientSecretVerifier: Sendable {
  let clients: [String: SimulatedClient]
  /// Apple's current time, in seconds since 1970.
  let now: Double

  /// The longest time from now to `exp`: six months, in seconds.
  static let longestLifetime: Double = 15_777_000

  /// The client that a form proves to come from (`client_secret_post`, the only method).
  ///
  /// - Throws: `invalid_request` if `client_id` is missing or a name is repeated, `invalid_client` for everything that
  ///   is wrong with the secret.
  func client(of form: SubmittedForm) async throws(EndpointRefusal) -> SimulatedClient {
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
    if let fault = await fault(of: secret, client: client) {
      throw EndpointRefusal(.invalidClient, reason: "client_secret: \(fault)")
    }
    return client
  }

  private func fault(of secret: String, client: SimulatedClient) async -> String? {
    let bytes = Array(secret.utf8)
    guard let header = try? DefaultJWTParser().parse(bytes, as: ClientSecretClaims.self).header else {
      return "not a JWT with iss, iat, exp, aud and sub"
    }
    guard header.alg == "ES256" else { return "alg is not ES256" }
    guard let keyID = header.kid, let pem = client.keys[keyID] else { return "kid is none of the team's keys" }
    let claims: ClientSecretClaims
    do {
      let keys = JWTKeyCollection()
      await keys.add(ecdsa: try ES256PublicKey(pem: pem), kid: JWKIdentifier(string: keyID))
      claims = try await keys.verify(bytes, as: ClientSecretClaims.self)
    } catch {
      return "the signature is not by key \(keyID)"
    }
    return claims.fault(client: client, now: now)
  }
}

/// The claims of a client secret. All are required.
private struct ClientSecretClaims: JWTPayload {
  let iss: String
  let iat: Double
  let exp: Double
  let aud: String
  let sub: String

  /// The times are judged by the simulator's clock, in ``fault(client:now:)``.
  func verify(using algorithm: some JWTAlgorithm) async throws {}

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
