/// Optional behaviours of Apple. All can be changed at run time.
package struct SimulatorSwitches: Sendable, Equatable, Codable {
  /// `email_verified` and `is_private_email` as `"true"`/`"false"` rather than Booleans: both are seen. Default: false.
  package var flagsAsStrings = false
  /// Whether tokens say `nonce_supported`. Default: true.
  package var nonceSupported = true
  /// Whether the answer to a refresh carries an identity token: not always so in production. Default: true.
  package var identityTokenOnRefresh = true
  /// Whether a refresh brings a new refresh token, and the old one is refused from then on (RFC 6749, 6): Apple does
  /// not today. Default: false.
  package var rotatesRefreshTokens = false
  /// The lifetime of identity tokens, in seconds. Apple: 10 minutes to 24 hours. Default: 86400.
  package var identityTokenLifetime: Double = 86_400
  /// When a refresh is answered 429. Default: never.
  package var throttle = Throttle.off
  /// The time within which a second check is refused, in seconds. Default: 86400.
  package var throttleWindow: Double = 86_400
  /// Whether `http://localhost` and the like are accepted as redirect URIs: never by Apple. Default: true.
  package var allowsLoopbackRedirects = true
  /// The number of retries of a notification that is not answered with 200. Default: 6.
  package var notificationRetries = 6
  /// The delay of the first retry, in seconds; it doubles with each further one. Default: 1.
  package var notificationRetryDelay: Double = 1

  /// The condition for refusing a refresh as too frequent. Apple: "verifying a user's Apple Account more than once a
  /// day".
  package enum Throttle: String, Sendable, Codable {
    /// Nothing.
    case off
    /// An earlier refresh for the same account within the window.
    case refresh
    /// An earlier refresh or sign-in of the same account within the window.
    case verification
  }

  /// Apple's behaviour at the time of writing, with the freedoms that tests on one machine need.
  package init() {}

  enum CodingKeys: String, CodingKey {
    case throttle
    case flagsAsStrings = "flags_as_strings"
    case nonceSupported = "nonce_supported"
    case identityTokenOnRefresh = "id_token_on_refresh"
    case rotatesRefreshTokens = "rotate_refresh_tokens"
    case identityTokenLifetime = "id_token_seconds"
    case throttleWindow = "throttle_seconds"
    case allowsLoopbackRedirects = "loopback_redirects"
    case notificationRetries = "notification_retries"
    case notificationRetryDelay = "notification_retry_seconds"
  }
}

extension SimulatorSwitches {
  /// A change of some switches: what is left out stays.
  struct Change: Decodable, Sendable {
    var flagsAsStrings: Bool?
    var nonceSupported: Bool?
    var identityTokenOnRefresh: Bool?
    var rotatesRefreshTokens: Bool?
    var identityTokenLifetime: Double?
    var throttle: Throttle?
    var throttleWindow: Double?
    var allowsLoopbackRedirects: Bool?
    var notificationRetries: Int?
    var notificationRetryDelay: Double?

    typealias CodingKeys = SimulatorSwitches.CodingKeys
  }

  mutating func apply(_ change: Change) {
    flagsAsStrings = change.flagsAsStrings ?? flagsAsStrings
    nonceSupported = change.nonceSupported ?? nonceSupported
    identityTokenOnRefresh = change.identityTokenOnRefresh ?? identityTokenOnRefresh
    rotatesRefreshTokens = change.rotatesRefreshTokens ?? rotatesRefreshTokens
    identityTokenLifetime = min(max(change.identityTokenLifetime ?? identityTokenLifetime, 0), 1e9)
    throttle = change.throttle ?? throttle
    throttleWindow = change.throttleWindow ?? throttleWindow
    allowsLoopbackRedirects = change.allowsLoopbackRedirects ?? allowsLoopbackRedirects
    notificationRetries = min(max(change.notificationRetries ?? notificationRetries, 0), 20)
    notificationRetryDelay = min(max(change.notificationRetryDelay ?? notificationRetryDelay, 0.01), 3_600)
  }
}
