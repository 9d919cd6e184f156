/// The authorization of the admin API (`[admin]` of the configuration).
package struct AdminSettings: Sendable, Equatable {
  /// Absolute path of the bearer token that administration requires on a TCP address; nil disables administration
  /// there. On a Unix socket the permission of the socket decides instead.
  package var tokenFile: String?

  /// The defaults: no administration on a TCP address.
  package init() {}
}
