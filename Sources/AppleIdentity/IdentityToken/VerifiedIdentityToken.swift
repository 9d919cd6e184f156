public import FoundationEssentials
internal import JWTKit

/// An identity token that Apple signed, for us, and that is not out of date. Only ``IdentityTokenVerifier`` makes one.
public struct VerifiedIdentityToken: Sendable, Equatable {
  /// The user: stable, and the same across one team's apps. The only identifier.
  public let subject: String
  /// The client ID that the token is for: one of those that were asked for.
  public let audience: String
  public let nonce: String?
  /// `c_hash`: the left half of the SHA-256 of the code that came with the token.
  public let codeHash: String?
  public let issuedAt: Date
  /// The token's end, ten minutes to a day ahead. It is not the session's.
  public let expires: Date
  public let claims: IdentityClaims

  fileprivate init(
    subject: String, audience: String, nonce: String?, codeHash: String?, issuedAt: Date, expires: Date,
    claims: IdentityClaims
  ) {
    self.subject = subject
    self.audience = audience
    self.nonce = nonce
    self.codeHash = codeHash
    self.issuedAt = issuedAt
    self.expires = expires
    self.claims = claims
  }
}

/// Verifies identity tokens in full: header, signature, issuer, audience, times, nonce.
///
/// Source: "Verifying a user", developer.apple.com; OpenID Connect Core 3.1.3.7.
public struct IdentityTokenVerifier: Sendable {
  /// The longest token looked at, in bytes. Apple's have about 1000.
  public static let maximumBytes = 16 * 1024
  /// How far in the future `iat` may lie, against clock skew. Default: 60 s. `exp` gets no leeway: it is later than now
  /// or the token is out of date.
  public static let leeway: TimeInterval = 60

  private let keySet: AppleKeySet
  private let clock: AppleClock

  public init(keySet: AppleKeySet, clock: @escaping AppleClock) {
    self.keySet = keySet
    self.clock = clock
  }

  /// - Parameters:
  ///   - audiences: the client IDs that the token may be for. Each audience of the token must be one of them.
  ///   - nonce: what the nonce is compared with.
  public func verify(
    _ token: UnverifiedIdentityToken, audiences: [String], nonce: NonceExpectation
  ) async throws(IdentityTokenRejection) -> VerifiedIdentityToken {
    let bytes = Array(token.exposed.utf8)
    guard bytes.count <= Self.maximumBytes else { throw .tooLong }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("form") }
    let header = try TokenHeader(encoded: parts[0])
    guard Base64URL.decode(parts[1]) != nil else { throw .malformed("payload") }
    guard let signature = Base64URL.decode(parts[2]), !signature.isEmpty else { throw .signatureInvalid }

    let key = try await key(for: header)
    let payload = try await Self.payload(of: bytes, signedWith: key)
    return try judge(payload.claims, audiences: audiences, nonce: nonce)
  }

  private func key(for header: TokenHeader) async throws(IdentityTokenRejection) -> AppleKey {
    let key: AppleKey
    do throws(AppleKeySetProblem) {
      key = try await keySet.key(header.keyIdentifier)
    } catch {
      throw error == .unknownKey ? .unknownKey : .keysUnavailable(error)
    }
    guard key.algorithm == header.algorithm else { throw .algorithmRefused(header.algorithm.rawValue) }
    return key
  }

  private static func payload(
    of token: [UInt8], signedWith key: AppleKey
  ) async throws(IdentityTokenRejection) -> SignedClaims {
    do {
      return try await key.verifiedPayload(of: token, as: SignedClaims.self)
    } catch let error as JWTError where error.errorType == .malformedToken {
      // The signature was right already; it is Apple's own payload that is no JSON object.
      throw .malformed("payload")
    } catch {
      // A wrong signature, and whatever the cryptography throws about bytes that are none.
      throw .signatureInvalid
    }
  }

  private func judge(
    _ payload: [String: ForeignJSON], audiences: [String], nonce: NonceExpectation
  ) throws(IdentityTokenRejection) -> VerifiedIdentityToken {
    guard let issuer = try Self.text("iss", in: payload) else { throw .missingClaim("iss") }
    guard issuer.utf8.elementsEqual(AppleSettings.appleBaseURL.utf8) else { throw .wrongIssuer }
    let audience = try Self.audience(in: payload, accepted: audiences)
    let now = clock()
    let expires = try Self.date("exp", in: payload)
    guard expires > now else { throw .expired }
    let issuedAt = try Self.date("iat", in: payload)
    guard issuedAt <= now.addingTimeInterval(Self.leeway) else { throw .issuedInFuture }
    guard let subject = try Self.text("sub", in: payload) else { throw .missingClaim("sub") }
    guard (1...255).contains(subject.utf8.count), subject.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .malformedClaim("sub")
    }
    let claims = IdentityClaims(payload: payload)
    let nonceClaim = try Self.text("nonce", in: payload)
    try nonce.judge(claim: nonceClaim, supported: claims.flag("nonce_supported") ?? false)
    return VerifiedIdentityToken(
      subject: subject, audience: audience, nonce: nonceClaim, codeHash: try Self.text("c_hash", in: payload),
      issuedAt: issuedAt, expires: expires, claims: claims)
  }

  /// The text of a claim that must be a string if it is there.
  private static func text(
    _ name: String, in payload: [String: ForeignJSON]
  ) throws(IdentityTokenRejection) -> String? {
    switch payload[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw .malformedClaim(name)
    }
  }

  /// A string or a list of strings. Of a list every member must be ours (OpenID Connect Core 3.1.3.7, 3): a token that
  /// is also for somebody else could have been handed on by them.
  private static func audience(
    in payload: [String: ForeignJSON], accepted: [String]
  ) throws(IdentityTokenRejection) -> String {
    let named: [String]
    switch payload["aud"] {
    case nil, .null: throw .missingClaim("aud")
    case .string(let text): named = [text]
    case .array(let elements):
      named = elements.compactMap(\.text)
      guard named.count == elements.count else { throw .malformedClaim("aud") }
    default: throw .malformedClaim("aud")
    }
    let isOurs = { (name: String) in accepted.contains { $0.utf8.elementsEqual(name.utf8) } }
    guard let first = named.first, named.allSatisfy(isOurs) else { throw .wrongAudience }
    return first
  }

  /// A NumericDate (RFC 7519 2): a number, after 1970 and before the year 10000. Text in digits is no number.
  private static func date(
    _ name: String, in payload: [String: ForeignJSON]
  ) throws(IdentityTokenRejection) -> Date {
    let seconds: Double
    switch payload[name] {
    case nil, .null: throw .missingClaim(name)
    case .integer(let number): seconds = Double(number)
    case .number(let number): seconds = number
    default: throw .malformedClaim(name)
    }
    guard seconds > 0, seconds < 253_402_300_800 else { throw .malformedClaim(name) }
    return Date(timeIntervalSince1970: seconds)
  }
}

/// The payload of a token as jwt-kit hands it over once the signature is right: every claim, none of them judged yet.
private struct SignedClaims: JWTPayload {
  let claims: [String: ForeignJSON]

  init(from decoder: any Decoder) throws {
    claims = try decoder.singleValueContainer().decode([String: ForeignJSON].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(claims)
  }

  /// The claims are judged by the verifier, which knows the audience and the nonce.
  func verify(using algorithm: some JWTAlgorithm) {}
}
