package import NIOCore

/// Is told of what has happened, on one event loop.
package protocol ExchangeObserver: AnyObject {
  /// Whether ``ExchangeRecord/request`` is wanted; it costs a copy of the request line.
  var wantsRequestLine: Bool { get }
  /// A request's head is whole, or refused. ``exchangeEnded(_:)`` follows, once.
  func exchangeBegan()
  /// A request has been answered, or has come to nothing.
  func exchangeEnded(_ record: borrowing ExchangeRecord)
  /// A client connection was accepted, or has ended.
  func connectionsChanged(by difference: Int)
  /// An upstream connection was opened (+1) or has ended (-1), or could not be opened (0).
  func upstreamConnectionsChanged(by difference: Int)
}

/// One exchange, when it is over.
package struct ExchangeRecord {
  /// The final status sent; 499 where the client left before one.
  package var status: Int
  /// Which counter the gate put it under; -1 where it was refused before.
  package var routeClass: Int
  /// From the whole head to the last byte handed to the system.
  package var duration: TimeAmount
  /// Of that, from sending the request upstream to the head of the response; zero where nothing was asked there.
  package var upstreamDuration: TimeAmount
  /// Content bytes received and sent.
  package var receivedBytes: Int
  package var sentBytes: Int
  /// Whose session it was.
  package var session: SessionTag?
  /// Method, a space, and the path without the query, where the observer wants it.
  package var request: ByteBuffer?
  /// The client's address.
  package var client: String
  /// The request's identifier, where the observer wants the line.
  package var requestID: String?
}
