internal import Cryptography
package import FoundationEssentials
internal import Secrets
internal import Synchronization
internal import WebFormats

/// Mints client secrets: JWTs signed with ES256 that live for minutes.
///
/// Source: "Creating a client secret", developer.apple.com.
package final class ClientSecretMint: Sendable {
  /// The lifetime of a client secret. Apple allows six months; a leaked secret is worthless after ten minutes.
  package static let lifetime: TimeInterval = 600
  /// The time by which `iat` is set back, so that clock skew does not make a secret "issued in the future".
  package static let backdating: TimeInterval = 60
  /// The minimum remaining lifetime of a secret that is reused.
  static let remainder: TimeInterval = 120

  private let teamID: String
  private let keyID: String
  private let key: ClientSecretKey
  private let clock: AppleClock
  private let minted = Mutex<[String: Minted]>([:])

  private struct Minted {
    let secret: ClientSecret
    let mintedAt: Date
  }

  /// Mints for one team by one of its keys.
  package init(teamID: String, keyID: String, key: ClientSecretKey, clock: @escaping AppleClock) {
    self.teamID = teamID
    self.keyID = keyID
    self.key = key
    self.clock = clock
  }

  /// A secret for one client ID: the cached one, or a new one if that one expires soon, or if the clock was set back
  /// to before it was minted.
  ///
  /// The audience is always Apple's, whatever `base_url` says.
  package func secret(for clientID: String) throws(ClientSecretMintError) -> ClientSecret {
    let now = clock()
    if let secret = minted.withLock({ Self.usable($0[clientID], at: now) }) {
      return secret
    }
    let issued = now.timeIntervalSince1970 - Self.backdating
    let expires = now.timeIntervalSince1970 + Self.lifetime
    guard Int(exactly: issued.rounded(.down)) != nil, Int(exactly: expires.rounded(.down)) != nil
    else { throw .clockOutOfRange }
    var payload = JSONWriter()
    payload.object { claims in
      claims.string("iss", teamID)
      claims.number("iat", issued.rounded(.down))
      claims.number("exp", expires.rounded(.down))
      claims.string("aud", AppleSettings.appleBaseURL)
      claims.string("sub", clientID)
    }
    guard let token = CompactJWS.sign(payload: payload.bytes, using: key.privateKey, keyID: keyID) else {
      throw .signingFailed
    }
    let secret = ClientSecret(token)
    minted.withLock { $0[clientID] = Minted(secret: secret, mintedAt: now) }
    return secret
  }

  private static func usable(_ minted: Minted?, at now: Date) -> ClientSecret? {
    guard let minted, now >= minted.mintedAt,
      now <= minted.mintedAt.addingTimeInterval(lifetime - remainder)
    else { return nil }
    return minted.secret
  }
}

/// The reason why no client secret could be made. An internal error.
package enum ClientSecretMintError: Error, Sendable, Equatable {
  /// The clock shows a time that no JWT can carry.
  case clockOutOfRange
  /// The key did not sign.
  case signingFailed

  /// The problem and its remedy.
  package var message: String {
    switch self {
    case .clockOutOfRange: "the system's clock shows an impossible time"
    case .signingFailed: "the client secret could not be signed with the private key"
    }
  }
}
