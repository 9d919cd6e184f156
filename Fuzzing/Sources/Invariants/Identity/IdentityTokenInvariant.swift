import Crypto
import Foundation
import Secrets

@testable import AppleIdentity
@testable import WebFormats

extension Invariant {
  /// For any content of a token, signed or not, the verifier returns; and a token that it accepts was signed, names
  /// Apple, us and the nonce, and has not expired.
  ///
  /// An input that begins with `{` is a header and, from the second line on, a payload, both of which are then signed
  /// with the key that the verifier knows: what Apple itself could send. Any other input is the token as it is.
  static let identityToken = Invariant(
    "identity-token",
    suspending: { bytes in
      let isSigned = bytes.first == 0x7B
      let line = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
      let header = Array(bytes[..<line])
      let payload = Array(bytes[line...].dropFirst())
      let text = isSigned ? try FixedApple.signed(header, payload) : String(decoding: bytes, as: UTF8.self)
      let token: VerifiedIdentityToken
      do throws(IdentityTokenError) {
        token = try await FixedApple.verifier.verify(
          UnverifiedIdentityToken(text), audiences: [FixedApple.client], nonce: .web(FixedApple.nonce))
      } catch {
        return
      }
      try require(isSigned, "taken, and signed by nobody")
      try require(token.audience == FixedApple.client, "for \(token.audience)")
      try require(token.nonce == nil || token.nonce == FixedApple.nonce, "of another attempt")
      try require(token.expires > FixedApple.now, "out of date")
      try require(token.issuedAt <= FixedApple.now + 60, "of the future")
      try require(token.subject.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the subject \(token.subject)")
      try require(!token.subject.isEmpty && token.subject.utf8.count <= 255, "the subject \(token.subject)")
      let claims = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
      try require(claims?["iss"] as? String == "https://appleid.apple.com", "issued by somebody else")
      try require(claims?["sub"] as? String == token.subject, "about somebody else")
      let fields = try? JSONSerialization.jsonObject(with: Data(header)) as? [String: Any]
      try require(fields?["alg"] as? String == "ES256", "signed in another way")
      try require(fields?["crit"] == nil && fields?["jwk"] == nil && fields?["jku"] == nil, "with a header of its own")
    })
}

/// An Apple whose one key the verifier knows.
private enum FixedApple {
  static let client = "com.example.web"
  static let nonce = "n-1"
  static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let key = P256.Signing.PrivateKey()

  static let verifier: IdentityTokenVerifier = {
    let point = Array(key.publicKey.rawRepresentation)
    let jwks = """
      {"keys":[{"kty":"EC","crv":"P-256","kid":"K1","use":"sig","alg":"ES256",\
      "x":"\(Base64URL.text(point[..<32]))","y":"\(Base64URL.text(point[32...]))"}]}
      """
    guard let origin = AppleOrigin("https://appleid.apple.com") else { preconditionFailure("this is Apple") }
    let keys = AppleKeySet(
      origin: origin,
      transport: { _ in AppleHTTPResponse(status: 200, contentType: "application/json", body: Array(jwks.utf8)) },
      clock: { now }, policy: .init())
    return IdentityTokenVerifier(keySet: keys, clock: { now })
  }()

  static func signed(_ header: [UInt8], _ payload: [UInt8]) throws -> String {
    let text = "\(Base64URL.text(header)).\(Base64URL.text(payload))"
    let signature = try key.signature(for: SHA256.hash(data: Array(text.utf8))).rawRepresentation
    return "\(text).\(Base64URL.text(signature))"
  }
}
