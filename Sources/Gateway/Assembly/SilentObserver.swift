internal import DataPlane
internal import NIOCore

/// Watches the admin listener: its requests are not the application's, and are not counted among them.
final class SilentObserver: ExchangeObserver {
  var wantsRequestLine: Bool { false }
  func exchangeBegan() {}
  func exchangeEnded(_ record: borrowing ExchangeRecord) {}
  func connectionsChanged(by difference: Int) {}
  func handshakeFailed() {}
  func upstreamConnectionOpened(after duration: TimeAmount) {}
  func upstreamConnectionFailed(_ failure: ExchangeFailure) {}
  func upstreamConnectionEnded() {}
  func tunnelOpened() {}
}
