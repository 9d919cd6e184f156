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
