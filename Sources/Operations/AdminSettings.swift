/// The listener for operators (`[admin]` of the configuration).
public struct AdminSettings: Sendable, Equatable {
  /// Absolute path of the bearer token that account and session administration asks for on a TCP address; nil switches
  /// administration off there. On a Unix socket the socket's permission decides instead.
  public var tokenFile: String?

  public init() {}
}
