/// The reason to abort an exchange.
enum AbortReason {
  /// The upstream did not finish its response.
  case upstreamFailed
  /// The gateway itself: too slow a client, a session that ended, a shutdown.
  case byGateway
}
