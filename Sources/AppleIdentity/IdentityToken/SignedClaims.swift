internal import FoundationEssentials
package import Secrets
internal import WebFormats

/// Claims that Apple signed: the payload of a JWS with a valid header and signature. Issuer, audience and time are
/// still to be verified, with the functions below.
struct SignedClaims {
  let values: [String: StrictJSON]

  /// Reads a token in compact form (RFC 7515, 7.1).
  static func verified(
    _ token: String, maximumBytes: Int, from source: TokenSource, keySet: AppleKeySet
  ) async throws(IdentityTokenError) -> SignedClaims {
    let bytes = Array(token.utf8)
    guard bytes.count <= maximumBytes else { throw .tooLong }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("form") }
    let header = try TokenHeader(encoded: parts[0])
    guard let payload = Base64URL.decode(parts[1]) else { throw .malformed("payload") }
    guard let signature = Base64URL.decode(parts[2]) else { throw .signatureInvalid }
    let key = try await key(for: header, from: source, in: keySet)
    // Header and payload as received, with the dot between them.
    let signed = bytes[..<parts[1].endIndex]
    guard key.isValid(signature: signature, of: signed) else { throw .signatureInvalid }
    guard let values = try? StrictJSON.object(payload, maximumBytes: maximumBytes, maximumDepth: maximumDepth) else {
      throw .malformed("payload")
    }
    return SignedClaims(values: values)
  }

  /// The maximum nesting depth of a payload.
  fileprivate static let maximumDepth = 16

  private static func key(
    for header: TokenHeader, from source: TokenSource, in keySet: AppleKeySet
  ) async throws(IdentityTokenError) -> AppleKey {
    let key: AppleKey
    do throws(AppleKeySetError) {
      key = try await keySet.key(header.keyIdentifier, for: source)
    } catch {
      throw error == .unknownKey ? .unknownKey : .keysUnavailable(error)
    }
    guard key.algorithm == header.algorithm else { throw .algorithmRefused(header.algorithm.rawValue) }
    return key
  }
}

extension UnverifiedIdentityToken {
  /// The subject that the token claims. Unverified: it may be used to withhold data, never to grant access to it.
  package var claimedSubject: String? {
    let bytes = Array(exposed.utf8)
    guard bytes.count <= IdentityTokenVerifier.maximumBytes else { return nil }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
      let values = try? StrictJSON.object(
        payload, maximumBytes: IdentityTokenVerifier.maximumBytes, maximumDepth: SignedClaims.maximumDepth),
      let subject = values["sub"]?.text, SignedClaims.isSubject(subject)
    else { return nil }
    return subject
  }
}

extension SignedClaims {
  /// Requires Apple as the issuer, byte for byte, whatever `base_url` is.
  func requireAppleAsIssuer() throws(IdentityTokenError) {
    guard let issuer = try text("iss") else { throw .missingClaim("iss") }
    guard issuer.utf8.elementsEqual(AppleSettings.appleBaseURL.utf8) else { throw .wrongIssuer }
  }

  /// A string or a list of strings. Of a list every member must be ours (OpenID Connect Core 3.1.3.7, 3): a token that
  /// is also for another audience could have been passed on by it.
  func audience(among accepted: [String]) throws(IdentityTokenError) -> String {
    let named: [String]
    switch values["aud"] {
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

  /// `iat`, which is at most the leeway ahead of our clock.
  func issuedAt(now: Date) throws(IdentityTokenError) -> Date {
    let issuedAt = try date("iat")
    guard issuedAt <= now.addingTimeInterval(IdentityTokenVerifier.leeway) else { throw .issuedInFuture }
    return issuedAt
  }

  /// A NumericDate (RFC 7519, 2): a number, after 1970 and before the year 10000. Text in digits is not a number.
  func date(_ name: String) throws(IdentityTokenError) -> Date {
    let seconds: Double
    switch values[name] {
    case nil, .null: throw .missingClaim(name)
    case .integer(let number): seconds = Double(number)
    case .number(let number): seconds = number
    default: throw .malformedClaim(name)
    }
    guard seconds > 0, seconds < 253_402_300_800 else { throw .malformedClaim(name) }
    return Date(timeIntervalSince1970: seconds)
  }

  /// The text of a claim that must be a string if it is present.
  func text(_ name: String) throws(IdentityTokenError) -> String? {
    switch values[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw .malformedClaim(name)
    }
  }

  /// Whether a text can be a subject: printable ASCII without spaces, at most 255 bytes. Apple's have 44.
  static func isSubject(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
