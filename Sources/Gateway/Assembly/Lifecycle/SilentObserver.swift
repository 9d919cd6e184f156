internal import DataPlane
internal import NIOCore

/// The observer of the admin listener, whose requests are not counted.
final class SilentObserver: ExchangeObserver {
  var wantsRequestLine: Bool { false }
  func exchangeBegan() {}
  func exchangeEnded(_ record: borrowing ExchangeRecord) {}
  func connectionsChanged(by difference: Int) {}
  func handshakeFailed(_ failure: HandshakeFailure, of client: String) {}
  func upstreamConnectionOpened(after duration: TimeAmount) {}
  func upstreamConnectionFailed(_ failure: ExchangeFailure) {}
  func upstreamConnectionEnded() {}
  func tunnelOpened() {}
}
