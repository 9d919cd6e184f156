/// The reason for which the gateway ends an exchange that it has forwarded. Its client gets this answer unless a
/// response has begun.
package enum ExchangeEnding: Sendable, Hashable {
  /// Its session has ended, its credential is no longer accepted, or its route requires a session now: 401.
  case signInRequired
  /// The rules refuse its user or token now: 403.
  case forbidden
  /// Its route is closed to everybody now: 403.
  case closed
  /// The client's address is outside of the networks of its route now: 403.
  case outsideNetworks
  /// Its session may be valid, but the store cannot confirm it: 503.
  case unverifiable
}
