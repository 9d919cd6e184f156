internal import DataPlane
internal import HTTPWire
internal import Logging
internal import NIOCore
internal import Operations
internal import Sessions

/// Counts and logs what happens on one event loop.
final class LoopObserver: ExchangeObserver {
  private let metrics: MetricsRegistry
  private let requests: RequestRecorder
  /// Of each site, the number that its requests are counted under. Requests that a reload finds in flight are counted
  /// by their place in the new list.
  private var hostNumbers: [Int] = []
  private let connections: ConnectionRecorder
  private var accessLog: AccessLogWriter?
  private let handshakeLog: HandshakeFailureLog
  private let logger: Logger
  /// Limits the warnings about malformed responses: each request of a page may meet the same mistake.
  private let malformedWarnings = LogLimit()
  /// Limits the warnings about connections beyond the limit of a client.
  private let refusalWarnings = LogLimit()
  /// Limits the warnings about HTTP/2 connections that cost too much.
  private let costWarnings = LogLimit()
  /// Limits the warnings about connections without a PROXY header.
  private let proxyHeaderWarnings = LogLimit()

  /// - Parameters:
  ///   - prefix: `path_prefix`.
  ///   - hosts: the authority of each site, that of `public_url` first.
  ///   - handshakeLog: that of all event loops.
  init(
    _ metrics: MetricsRegistry, log: LogSettings, prefix: String, hosts: [String], handshakeLog: HandshakeFailureLog,
    logger: Logger
  ) {
    self.metrics = metrics
    self.handshakeLog = handshakeLog
    self.logger = logger
    requests = metrics.makeRequestRecorder()
    connections = metrics.makeConnectionRecorder()
    apply(log, prefix: prefix, hosts: hosts)
  }

  /// Logs and counts by other settings from the next request on.
  func apply(_ settings: LogSettings, prefix: String, hosts: [String]) {
    hostNumbers = metrics.hostNumbers(of: hosts)
    accessLog = settings.accessLog ? AccessLogWriter(settings, hidden: InvitationPath.folder(below: prefix)) : nil
  }

  var wantsRequestLine: Bool { accessLog != nil }
  var wantedFields: WantedFields { accessLog?.wantedFields ?? .nothing }

  func exchangeBegan() { requests.requestStarted() }

  func exchangeEnded(_ record: borrowing ExchangeRecord) {
    let nanoseconds = UInt64(clamping: record.duration.nanoseconds)
    let label = record.label
    requests.requestFinished(
      route: label.route, status: record.status,
      nanoseconds: nanoseconds, bytesIn: UInt64(clamping: record.receivedBytes),
      bytesOut: UInt64(clamping: record.sentBytes),
      host: hostNumbers.indices.contains(label.site) ? hostNumbers[label.site] : 0)
    if record.upstreamDuration > .zero {
      requests.upstreamAnswered(nanoseconds: UInt64(clamping: record.upstreamDuration.nanoseconds))
    }
    if record.status == 101 { requests.tunnelClosed() }
    // A failure to connect was counted already, once for each address that was tried.
    if let failure = record.failure, !failure.isOfConnecting, let reason = failure.ofUpstream {
      connections.upstreamFailed(reason)
    }
    accessLog?.write(record)
  }

  func connectionsChanged(by difference: Int) {
    if difference > 0 { connections.clientAccepted() } else { connections.clientClosed() }
  }

  func connectionRefused(of client: String) {
    connections.clientRefused()
    guard refusalWarnings.isDue() else { return }
    logger.warning("too many connections from one address, closing further ones", metadata: ["peer": "\(client)"])
  }

  func handshakeFailed(_ failure: HandshakeFailure, of client: String) {
    connections.clientHandshakeFailed(failure.counted)
    handshakeLog.write(failure, of: client)
  }

  /// Counts and logs that the connection of a peer in `listen.proxy_protocol_from` did not begin with a PROXY header.
  func proxyHeaderMissing(from peer: String) {
    connections.clientHandshakeFailed(.proxyHeader)
    guard proxyHeaderWarnings.isDue() else { return }
    logger.warning(
      "closing connection without a valid PROXY header",
      metadata: [
        "peer": "\(peer)",
        "remedy": "let the load balancer send the PROXY protocol, or remove it from listen.proxy_protocol_from",
      ])
  }

  func connectionFailed(_ code: HTTP2ErrorCode, of client: String) {
    let error = HTTP2ConnectionError(code)
    connections.clientFailed(error)
    guard error == .enhanceYourCalm, costWarnings.isDue() else { return }
    logger.warning("HTTP/2 connection ended, it costs too much", metadata: ["peer": "\(client)"])
  }

  func upstreamConnectionOpened(after duration: TimeAmount) {
    connections.upstreamConnected(nanoseconds: UInt64(clamping: duration.nanoseconds))
  }

  func upstreamConnectionFailed(_ failure: ExchangeFailure) {
    if let reason = failure.ofUpstream { connections.upstreamFailed(reason) }
  }

  func upstreamMalformed(_ reason: String, of upstream: String) {
    guard malformedWarnings.isDue("\(upstream) \(reason)") else { return }
    logger.warning(
      "malformed upstream response", metadata: ["upstream": "\(upstream)", "reason": "\(reason)"])
  }

  func upstreamConnectionEnded() { connections.upstreamDisconnected() }

  func tunnelOpened() { requests.tunnelOpened() }
}

extension HandshakeFailure {
  /// The reason it is counted under.
  var counted: HandshakeFailureReason {
    switch self {
    case .plainHTTP: .plainHTTP
    case .notTLS: .notTLS
    case .unsupportedVersion: .unsupportedVersion
    case .noSharedParameters: .noSharedParameters
    case .clientCertificateMissing: .clientCertificateMissing
    case .clientCertificateRefused: .clientCertificateRefused
    case .certificateRejected: .certificateRejected
    case .refusedByClient: .refusedByClient
    case .closed: .closed
    case .timedOut: .timedOut
    case .protocolViolation: .protocolViolation
    case .libraryFailure: .internalError
    }
  }
}

extension HTTP2ConnectionError {
  fileprivate init(_ code: HTTP2ErrorCode) {
    switch code {
    case .enhanceYourCalm: self = .enhanceYourCalm
    case .internalError: self = .internalError
    case .noError, .protocolError, .flowControlError, .streamClosed, .frameSizeError, .refusedStream, .cancel,
      .compressionError:
      self = .protocolError
    }
  }
}

extension ExchangeFailure {
  /// The reason it is counted under, where it is one between the gateway and the upstream.
  var ofUpstream: UpstreamFailureReason? {
    switch self {
    case .upstreamRefused: .refused
    case .upstreamUnresolved: .unresolved
    case .upstreamConnectTimeout: .connectTimeout
    case .upstreamTLS: .tls
    case .upstreamTimeout: .timeout
    case .upstreamClosed: .closed
    case .upstreamMalformed: .malformed
    case .upstreamFull: .full
    case .localShortage: .localShortage
    case .noDescriptor, .clientLeft, .aborted: nil
    }
  }

  /// The name in the access log.
  var label: String {
    if let failure = ofUpstream, self != .localShortage { return "upstream_\(failure.label)" }
    return switch self {
    case .localShortage: "local_shortage"
    case .clientLeft: "client_left"
    case .noDescriptor: "no_descriptor"
    default: "cut_off"
    }
  }
}
