import AppleIdentity
import Crypto
import FoundationEssentials
import Secrets
import Testing
import WebFormats

/// The content of a client secret, read without the code under test.
struct SecretClaims: Decodable, Equatable {
  let issuer: String
  let subject: String
  let audience: String
  let issuedAt: Double
  let expires: Double

  private enum CodingKeys: String, CodingKey {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case issuedAt = "iat"
    case expires = "exp"
  }
}

func secretClaims(of form: FormFields) throws -> SecretClaims {
  let secret = try #require(try form.text(of: "client_secret"))
  return try secretClaims(of: ClientSecret(secret))
}

func secretClaims(of secret: ClientSecret) throws -> SecretClaims {
  let parts = secret.exposed.split(separator: ".")
  return try JSONDecoder().decode(SecretClaims.self, from: try bytes(ofBase64URL: parts[1]))
}

func bytes(ofBase64URL text: some StringProtocol) throws -> Data {
  let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
  let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
  return try #require(Data(base64Encoded: String(standard) + padding))
}
