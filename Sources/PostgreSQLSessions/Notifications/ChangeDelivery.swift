package import Sessions

/// The way in which a store learns of the changes of other gateways.
package enum ChangeDelivery: Sendable, Equatable {
  /// By polling alone: it cannot listen.
  case polled(because: StoreError)
  /// The server announces them again.
  case announced
}

/// The notices about a listener: one when its changes come to be polled, and one when they are announced again.
struct ListenerNotices {
  private var phase = Phase.listening

  private enum Phase {
    case listening
    /// The last attempt failed. The server may just not have ended the connection before yet, which counts for its
    /// limit.
    case failedOnce
    case failing(isTold: Bool)
  }

  /// Notes that it listens.
  mutating func listens() -> ChangeDelivery? {
    defer { phase = .listening }
    if case .failing(isTold: true) = phase { return .announced }
    return nil
  }

  /// Notes that an attempt to listen failed, or that the connection broke. An outage gives no notice: the store's own
  /// operations report it.
  mutating func failed(_ error: StoreError) -> ChangeDelivery? {
    switch phase {
    case .listening:
      phase = .failedOnce
      return nil
    case .failing(isTold: true): return nil
    case .failedOnce, .failing(isTold: false):
      let isTold = error.code != .unavailable && error.code != .interrupted
      phase = .failing(isTold: isTold)
      return isTold ? .polled(because: error) : nil
    }
  }
}
