internal import DataPlane

/// Watches the admin listener: its requests are not the application's, and are not counted among them.
final class SilentObserver: ExchangeObserver {
  var wantsRequestLine: Bool { false }
  func exchangeBegan() {}
  func exchangeEnded(_ record: borrowing ExchangeRecord) {}
  func connectionsChanged(by difference: Int) {}
  func upstreamConnectionsChanged(by difference: Int) {}
}
