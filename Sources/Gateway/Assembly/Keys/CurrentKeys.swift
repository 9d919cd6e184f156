internal import Synchronization

/// The keys of the configuration in effect, for a store that opens after a reload.
final class CurrentKeys: Sendable {
  private let keys: Mutex<GatewayKeys>

  init(_ keys: GatewayKeys) { self.keys = Mutex(keys) }

  var value: GatewayKeys { keys.withLock { $0 } }

  /// Uses other keys from now on.
  func apply(_ next: GatewayKeys) { keys.withLock { $0 = next } }
}
