package import HTTPWire
package import NIOCore

/// Receives per-request and per-connection events of one event loop.
package protocol ExchangeObserver: AnyObject {
  /// Whether ``ExchangeRecord/request`` is wanted; it costs a copy of the request line.
  var wantsRequestLine: Bool { get }
  /// The request header fields that it wants in addition to the request line; read only if it wants the line.
  var wantedFields: WantedFields { get }
  /// A request's head is whole, or refused. ``exchangeEnded(_:)`` follows, once.
  func exchangeBegan()
  /// A request has been answered, or has come to nothing.
  func exchangeEnded(_ record: borrowing ExchangeRecord)
  /// A client connection was accepted, or has ended.
  func connectionsChanged(by difference: Int)
  /// A connection was closed because the client at this address has as many as it may have.
  func connectionRefused(of client: String)
  /// The TLS handshake of the client at this address has failed.
  func handshakeFailed(_ failure: HandshakeFailure, of client: String)
  /// An HTTP/2 connection of the client at this address was ended with an error.
  func connectionFailed(_ code: HTTP2ErrorCode, of client: String)
  /// An upstream connection is ready for use, so long after it was wanted.
  func upstreamConnectionOpened(after duration: TimeAmount)
  /// An upstream connection could not be opened; the request may still be sent elsewhere.
  func upstreamConnectionFailed(_ failure: ExchangeFailure)
  /// A response of the upstream with this name breaks the protocol.
  func upstreamMalformed(_ reason: String, of upstream: String)
  /// An upstream connection has ended. Follows each ``upstreamConnectionOpened(after:)`` once.
  func upstreamConnectionEnded()
  /// An exchange has become a tunnel; its ``exchangeEnded(_:)`` (status 101) follows when the tunnel is closed.
  func tunnelOpened()
}

extension ExchangeObserver {
  /// The default of an observer that wants the request line at most.
  package var wantedFields: WantedFields { .nothing }
  /// The default: the refusal is not observed.
  package func connectionRefused(of client: String) {}
  /// The default: the error is not observed.
  package func connectionFailed(_ code: HTTP2ErrorCode, of client: String) {}
  /// The default: the violation shows only as the failure of its exchange.
  package func upstreamMalformed(_ reason: String, of upstream: String) {}
}

/// Request header fields that an observer can ask for; each costs time.
package struct WantedFields: OptionSet, Sendable {
  /// One bit for each field.
  package let rawValue: UInt8

  /// A set of bits; those that no field has are kept and mean nothing.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Asked for with each request: an empty literal is built by code that is generic at run time, which costs as much as
  /// reading a field line.
  package static let nothing: WantedFields = []
  /// `Host`, or `:authority`.
  package static let host = WantedFields(rawValue: 1)
  /// `User-Agent`.
  package static let userAgent = WantedFields(rawValue: 2)
  /// `Referer`.
  package static let referer = WantedFields(rawValue: 4)
  /// The identifier of the trace, in `traceparent`.
  package static let trace = WantedFields(rawValue: 16)
  /// ``ExchangeRecord/upstreamAddress``.
  package static let upstreamAddress = WantedFields(rawValue: 8)
}

/// The reason why an exchange failed. A refusal that was answered is known by its status alone.
package enum ExchangeFailure: Sendable, Equatable {
  /// No connection to the upstream: refused, unreachable.
  case upstreamRefused
  /// The upstream's name was not found.
  case upstreamUnresolved
  /// No connection to the upstream in time.
  case upstreamConnectTimeout
  /// TLS with the upstream could not be established.
  case upstreamTLS
  /// The upstream did not respond in time, or stopped midway.
  case upstreamTimeout
  /// The upstream closed the connection before its response was whole.
  case upstreamClosed
  /// The upstream's response breaks the protocol.
  case upstreamMalformed
  /// As many connections to the upstream as there may be were in use.
  case upstreamFull
  /// There was no descriptor for a connection to the upstream.
  case noDescriptor
  /// The system had no local port or no memory for a connection to the upstream.
  case localShortage
  /// The client left before its response was whole.
  case clientLeft
  /// The gateway aborted it: too slow a client, a session that ended, the end of the process.
  case aborted

  /// Whether no connection to the upstream was established: each such failure is also reported by
  /// ``ExchangeObserver/upstreamConnectionFailed(_:)``.
  package var isOfConnecting: Bool {
    switch self {
    case .upstreamRefused, .upstreamUnresolved, .upstreamConnectTimeout, .upstreamTLS, .localShortage: true
    case .upstreamTimeout, .upstreamClosed, .upstreamMalformed, .upstreamFull, .noDescriptor, .clientLeft, .aborted:
      false
    }
  }
}

/// One exchange, when it is over.
package struct ExchangeRecord {
  /// The final status sent; 499 if the client left before one. For an error in `grpc-status`, the HTTP status that
  /// corresponds.
  package var status: Int
  /// The route class that the gate counts it under; -1 if it was refused before.
  package var routeClass: Int
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
