/// The listener for operators (`[admin]` of the configuration).
package struct AdminSettings: Sendable, Equatable {
  /// Absolute path of the bearer token that account and session administration asks for on a TCP address; nil switches
  /// administration off there. On a Unix socket the socket's permission decides instead.
  package var tokenFile: String?

  package init() {}
}
