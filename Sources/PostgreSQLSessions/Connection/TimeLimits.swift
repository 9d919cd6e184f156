/// Time limits of the server, and of connections to it.
struct TimeLimits: Sendable {
  /// For connecting. `connect_timeout` in the address has precedence.
  var connect = Duration.seconds(5)
  /// For one statement. The server enforces it, and has a second more before the connection is given up.
  var statement = Duration.seconds(5)
  /// The age at which a connection is replaced, on average: so that gateways follow an address that leads to another
  /// server, even if the old one goes on answering.
  var connectionLifetime = Duration.seconds(900)

  /// The factor by which the lifetime of one connection differs, so that those opened together are not replaced
  /// together.
  static func jitter() -> Double { .random(in: 0.8...1.2) }
}
