/// Counts the connections of one event loop, from clients and to the upstream. Called on that loop only.
package final class ConnectionRecorder: Sendable {
  private let clientsAccepted = LoopCounter()
  private let clientsClosed = LoopCounter()
  private let clientsRefused = LoopCounter()
  /// By ``HandshakeFailureReason``.
  private let handshakesFailed = InlineArray<13, LoopCounter> { _ in LoopCounter() }
  /// By ``HTTP2ConnectionError``.
  private let clientErrors = InlineArray<3, LoopCounter> { _ in LoopCounter() }
  private let upstreamOpened = LoopCounter()
  private let upstreamClosed = LoopCounter()
  private let connectTimes = LatencyHistogram()
  /// By ``UpstreamFailureReason``.
  private let failures = InlineArray<9, LoopCounter> { _ in LoopCounter() }

  init() {}

  /// A client connected.
  package func clientAccepted() { clientsAccepted.add() }
  /// A client's connection is closed. Follows each `clientAccepted()` once.
  package func clientClosed() { clientsClosed.add() }
  /// A client's connection was closed because of `limits.clients.connections`.
  package func clientRefused() { clientsRefused.add() }
  /// A client's TLS handshake failed, or its connection did not begin with the PROXY header that it must begin with.
  package func clientHandshakeFailed(_ reason: HandshakeFailureReason) {
    handshakesFailed[reason.rawValue].add()
  }
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
    for index in 0..<totals.handshakesFailed.count {
      totals.handshakesFailed[index] &+= handshakesFailed[index].total
    }
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
    var handshakesFailed = [UInt64](repeating: 0, count: HandshakeFailureReason.allCases.count)
    var clientErrors = [UInt64](repeating: 0, count: HTTP2ConnectionError.allCases.count)
    var upstreamConnects: UInt64 = 0
    var upstreamOpen: Int64 = 0
    var connectTimes = LatencyHistogram.emptySnapshot
    var failures = [UInt64](repeating: 0, count: UpstreamFailureReason.allCases.count)
  }
}

/// The kinds of failed handshakes with clients: the label `reason`.
package enum HandshakeFailureReason: Int, Sendable, CaseIterable {
  /// The client speaks plain HTTP.
  case plainHTTP
  /// The client speaks something else that is not TLS.
  case notTLS
  /// The client speaks neither TLS 1.2 nor TLS 1.3.
  case unsupportedVersion
  /// There is no cipher suite, group, signature or application protocol in common.
  case noSharedParameters
  /// The client shows no certificate, and one is required.
  case clientCertificateMissing
  /// The client's certificate does not verify.
  case clientCertificateRefused
  /// The client does not accept the listener's certificate.
  case certificateRejected
  /// The client ended the handshake by another alert.
  case refusedByClient
  /// The client closed the connection.
  case closed
  /// The handshake took longer than `listen.timeouts.handshake`.
  case timedOut
  /// The client broke the protocol.
  case protocolViolation
  /// The gateway's own.
  case internalError
  /// There was no valid PROXY header where one is expected.
  case proxyHeader

  /// The label's value.
  package var label: String {
    switch self {
    case .plainHTTP: "plain_http"
    case .notTLS: "not_tls"
    case .unsupportedVersion: "unsupported_version"
    case .noSharedParameters: "no_shared_parameters"
    case .clientCertificateMissing: "client_certificate_missing"
    case .clientCertificateRefused: "client_certificate_refused"
    case .certificateRejected: "certificate_rejected"
    case .refusedByClient: "refused_by_client"
    case .closed: "closed"
    case .timedOut: "timeout"
    case .protocolViolation: "protocol_violation"
    case .internalError: "internal_error"
    case .proxyHeader: "proxy_header"
    }
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
  /// The system had no local port or no memory for the connection.
  case localShortage

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
    case .localShortage: "local_shortage"
    }
  }
}
