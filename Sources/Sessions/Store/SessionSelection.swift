/// The sessions to end.
package enum SessionSelection: Sendable, Equatable {
  /// This one.
  case one(PublicSessionID)
  /// Every session of the user.
  case all(of: Subject)
  /// Every session of the user but this one.
  case others(of: Subject, except: PublicSessionID)
  /// Every session that depends on the user's token for this client.
  case resting(onTokenOf: Subject, clientID: String)

  /// The change that ends selected sessions which the store no longer has: it may have lost them (to a failover, a
  /// backup that was restored), and gateways have them in their caches.
  /// - Parameter ended: the sessions that the store had.
  package func change(beside ended: [PublicSessionID], because reason: SessionEnding) -> StoreChange? {
    switch self {
    case .one(let handle): ended.isEmpty ? .ended(handle, reason) : nil
    case .all(let subject), .others(let subject, _), .resting(let subject, _): .accountChanged(subject)
    }
  }
}
