/// Counts the connections of one event loop, from clients and to the upstream. Called on that loop only.
package final class ConnectionRecorder: Sendable {
  private let clientsAccepted = LoopCounter()
  private let clientsClosed = LoopCounter()
  private let clientsRefused = LoopCounter()
  private let handshakesFailed = LoopCounter()
  private let clientErrors = InlineArray<3, LoopCounter> { _ in LoopCounter() }
  private let upstreamOpened = LoopCounter()
  private let upstreamClosed = LoopCounter()
  private let connectTimes = LatencyHistogram()
  private let failures = InlineArray<8, LoopCounter> { _ in LoopCounter() }

  init() {}

  /// A client connected.
  package func clientAccepted() { clientsAccepted.add() }
  /// A client's connection is closed. Follows each `clientAccepted()` once.
  package func clientClosed() { clientsClosed.add() }
  /// A client's connection was closed because of `limits.clients.connections`.
  package func clientRefused() { clientsRefused.add() }
  /// A client's TLS handshake failed.
  package func clientHandshakeFailed() { handshakesFailed.add() }
  /// A client's HTTP/2 connection was ended with an error.
  package func clientFailed(_ error: HTTP2ConnectionError) {
    clientErrors[error.rawValue].add()
  }

  /// A connection to the upstream is ready for use, so many nanoseconds after it was requested.
  package func upstreamConnected(nanoseconds: UInt64) {
    upstreamOpened.add()
    connectTimes.record(nanoseconds: nanoseconds)
  }
  /// A connection to the upstream is closed. Follows each `upstreamConnected` once.
  package func upstreamDisconnected() { upstreamClosed.add() }
  /// A connection to the upstream failed, or a request on it.
  package func upstreamFailed(_ failure: UpstreamFailureReason) {
    failures[failure.rawValue].add()
  }

  func add(to totals: inout Totals) {
    // Ends are read before beginnings, so that no difference is ever negative.
    let closed = clientsClosed.total
    let accepted = clientsAccepted.total
    totals.clientsAccepted &+= accepted
    totals.clientsOpen += Int64(bitPattern: accepted &- closed)
    totals.clientsRefused &+= clientsRefused.total
    totals.handshakesFailed &+= handshakesFailed.total
    for index in 0..<totals.clientErrors.count {
      totals.clientErrors[index] &+= clientErrors[index].total
    }
    let disconnected = upstreamClosed.total
    let connected = upstreamOpened.total
    totals.upstreamConnects &+= connected
    totals.upstreamOpen += Int64(bitPattern: connected &- disconnected)
    connectTimes.add(to: &totals.connectTimes)
    for index in 0..<totals.failures.count { totals.failures[index] &+= failures[index].total }
  }

  /// Sums over the recorders of every loop.
  struct Totals {
    var clientsAccepted: UInt64 = 0
    var clientsOpen: Int64 = 0
    var clientsRefused: UInt64 = 0
    var handshakesFailed: UInt64 = 0
    var clientErrors = [UInt64](repeating: 0, count: HTTP2ConnectionError.allCases.count)
    var upstreamConnects: UInt64 = 0
    var upstreamOpen: Int64 = 0
    var connectTimes = LatencyHistogram.emptySnapshot
    var failures = [UInt64](repeating: 0, count: UpstreamFailureReason.allCases.count)
  }
}

/// The errors that HTTP/2 connections of clients are ended with: the label `code`.
package enum HTTP2ConnectionError: Int, Sendable, CaseIterable {
  /// The client has broken the protocol, in whatever way.
  case protocolError
  /// The client costs too much.
  case enhanceYourCalm
  /// The gateway's own.
  case internalError

  /// The label's value.
  package var label: String {
    switch self {
    case .protocolError: "protocol_error"
    case .enhanceYourCalm: "enhance_your_calm"
    case .internalError: "internal_error"
    }
  }
}

/// The kinds of failures between the gateway and the upstream: the label `reason`.
package enum UpstreamFailureReason: Int, Sendable, CaseIterable {
  /// The connection was refused.
  case refused
  /// Its name was not found.
  case unresolved
  /// Connecting took longer than `upstream.timeouts.connect`.
  case connectTimeout
  /// Its certificate or handshake was not acceptable.
  case tls
  /// It did not begin to answer within `upstream.timeouts.first_byte`, or stopped midway.
  case timeout
  /// It closed or reset the connection before its answer was complete.
  case closed
  /// Its response was not valid HTTP.
  case malformed
  /// All connections that `upstream.max_connections` allows were in use, and the queue was full.
  case full

  /// The label's value.
  package var label: String {
    switch self {
    case .refused: "refused"
    case .unresolved: "unresolved"
    case .connectTimeout: "connect_timeout"
    case .tls: "tls"
    case .timeout: "timeout"
    case .closed: "closed"
    case .malformed: "malformed"
    case .full: "full"
    }
  }
}
