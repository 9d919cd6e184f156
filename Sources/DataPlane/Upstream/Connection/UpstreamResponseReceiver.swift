internal import HTTPWire
internal import NIOCore

/// The receiver of an upstream's response: the transport of a client's exchange, or the gateway's own HTTP client.
protocol UpstreamResponseReceiver: AnyObject {
  /// A connection that was asked for is there.
  func upstreamReady(_ connection: UpstreamConnection)
  /// The exchange has failed; the connection is gone.
  func upstreamFailed(_ failure: UpstreamFailure)
  /// The head of a response, final or interim. `framing` is that of its body.
  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming)
  /// Content of the response's body.
  func responseContent(_ content: consuming ByteBuffer)
  /// The response is whole; the connection has gone back to the pool or is closed.
  func responseEnded(trailers: [UInt8])
  /// All that was read for now has been handed over.
  func flushResponse()
  /// The upstream's channel can take more of the request's body, or cannot.
  func upstreamWritabilityChanged(_ writable: Bool)
  /// Whether the client can take more of the response.
  var canTakeResponse: Bool { get }
  /// Whether what it is handed may come in very large pieces: where nothing waits for the client. Never where many
  /// responses share one connection, and a client that stops to read would leave a piece of each with us.
  var takesBulk: Bool { get }
}
