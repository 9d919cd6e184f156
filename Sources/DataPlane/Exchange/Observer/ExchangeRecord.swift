package import NIOCore

/// One exchange, when it is over.
package struct ExchangeRecord {
  /// The final status sent; 499 if the client left before one. For an error in `grpc-status`, the HTTP status that
  /// corresponds.
  package var status: Int
  /// The label that the gate counts it under.
  package var label: RequestLabel
  /// From the whole head to the last byte handed to the system.
  package var duration: TimeAmount
  /// Of that, from sending the request upstream to the head of the response; zero where nothing was asked there.
  package var upstreamDuration: TimeAmount
  /// Bytes of the request's body.
  package var receivedBytes: Int
  /// Bytes of the response's body.
  package var sentBytes: Int
  /// The session of the request.
  package var session: ConnectionKey?
  /// The pseudonym of the user, where the gate gave one.
  package var user: UInt64?
  /// The failure; nil if the exchange ended well.
  package var failure: ExchangeFailure?
  /// The client's version of HTTP.
  package var version = HTTPVersion.http11
  /// Method, a space, and the path without the query, where the observer wants it. Then, where it wants any of them,
  /// the authority, `User-Agent`, `Referer` and the trace, each after a NUL, those empty that it does not want.
  package var request: ByteBuffer?
  /// The client's address.
  package var client: String
  /// The request's identifier.
  package var requestID: RequestIDSource.Identifier
  /// The address that the request was sent to, or was to be sent to, where the observer wants it.
  package var upstreamAddress: String?
}
