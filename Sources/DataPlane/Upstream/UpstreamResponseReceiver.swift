internal import HTTPWire
internal import NIOCore

/// The client's side of an exchange, as an upstream connection sees it: an HTTP/1.1 connection, or the control plane.
protocol ExchangeClient: AnyObject {
  /// A connection that was asked for is there.
  func upstreamReady(_ connection: UpstreamConnection)
  /// The exchange has failed; the connection is gone.
  func upstreamFailed(_ failure: UpstreamFailure)
  /// The head of a response, final or interim. `toCome` is the framing of its body.
  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, toCome: BodyFraming)
  /// Content of the response's body.
  func responseContent(_ content: ByteBuffer)
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

/// Why an exchange with the upstream failed.
enum UpstreamFailure: Error, Equatable {
  /// No connection: refused, unreachable. Not one byte was sent.
  case connect(String)
  /// No connection: the name was not found.
  case unresolved(String)
  /// No connection in time.
  case connectTimeout
  /// TLS could not be established.
  case handshake(String)
  /// The connection ended before a byte of the response, `reused` if it had served before.
  case closedBeforeResponse(reused: Bool)
  /// The application said that it has not processed the request (RFC 9113, 8.7).
  case notProcessed
  /// The connection ended, or was cut, in the middle of the response.
  case closedMidway
  /// The response breaks the protocol.
  case badResponse(String)
  /// No final response in time.
  case responseTimeout
  /// No connection: as many as there may be are in use, and the queue is full, or its time is over.
  case noRoom
  /// No connection: the process has no descriptor for it, which is no fault of the upstream's.
  case noDescriptor

  /// The status that a client gets while none has been sent (RFC 9110 15.6).
  var status: Int {
    switch self {
    case .connectTimeout, .responseTimeout: 504
    case .noRoom, .noDescriptor: 503
    default: 502
    }
  }

  /// What the observer is told.
  var told: ExchangeFailure {
    switch self {
    case .connect: .upstreamRefused
    case .unresolved: .upstreamUnresolved
    case .connectTimeout: .upstreamConnectTimeout
    case .handshake: .upstreamTLS
    case .closedBeforeResponse, .notProcessed, .closedMidway: .upstreamClosed
    case .badResponse: .upstreamMalformed
    case .responseTimeout: .upstreamTimeout
    case .noRoom: .upstreamFull
    case .noDescriptor: .noDescriptor
    }
  }

  /// What the log says.
  var reason: String { reason(of: "the application") }

  /// - Parameter peer: what the other end is called: "the application".
  func reason(of peer: String) -> String {
    switch self {
    case .connect(let reason), .unresolved(let reason): "no connection to \(peer): \(reason)"
    case .connectTimeout: "no connection to \(peer) in time"
    case .handshake(let reason): "no TLS with \(peer): \(reason)"
    case .closedBeforeResponse: "\(peer) closed the connection without a response"
    case .notProcessed: "\(peer) refused the request without processing it"
    case .closedMidway: "\(peer) closed the connection within its response"
    case .badResponse(let reason): "\(peer)'s response breaks HTTP: \(reason)"
    case .responseTimeout: "\(peer) did not respond in time"
    case .noRoom: "all connections to \(peer) are in use"
    case .noDescriptor: "no descriptor for a connection to \(peer); raise LimitNOFILE= of the unit, or ulimit -n"
    }
  }
}
