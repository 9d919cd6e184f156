internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The reason why an upstream gave no whole response.
enum UpstreamFailure: Error, Equatable {
  /// No connection: refused, unreachable. Not one byte was sent.
  case connect(String)
  /// No connection: the name was not found.
  case unresolved(String)
  /// No connection in time.
  case connectTimeout
  /// No connection in time: the lookup of this name has not ended.
  case lookupTimeout(String)
  /// TLS could not be established.
  case handshake(String)
  /// The connection ended before a byte of the response, `reused` if it had served before.
  case closedBeforeResponse(reused: Bool)
  /// The application said that it has not processed the request (RFC 9113, 8.7).
  case notProcessed
  /// The connection ended in the middle of the response.
  case closedMidway
  /// The response breaks the protocol.
  case badResponse(String)
  /// No final response in time, or nothing more of it for too long.
  case responseTimeout
  /// No connection: as many as there may be are in use, and the queue is full, or its time is over.
  case connectionLimit
  /// No connection: the process has no descriptor for it, which is no fault of the upstream's.
  case noDescriptor
  /// No connection: the system has no local port or no memory for it, which is no fault of the upstream's either.
  case localShortage(String)

  /// The status that a client gets while none has been sent (RFC 9110, 15.6).
  var status: Int {
    switch self {
    case .connectTimeout, .lookupTimeout, .responseTimeout: 504
    case .connectionLimit, .noDescriptor, .localShortage: 503
    default: 502
    }
  }

  /// The reason for the log.
  var reason: String { reason(of: "the application") }

  /// - Parameter peer: what the other end is called: "the application".
  func reason(of peer: String) -> String {
    switch self {
    case .connect(let reason), .unresolved(let reason), .localShortage(let reason):
      "no connection to \(peer): \(reason)"
    case .connectTimeout: "no connection to \(peer) in time"
    case .lookupTimeout(let host):
      "no connection to \(peer): the name \(host) was not looked up in time; \(UnresolvedHostError.remedy)"
    case .handshake(let reason): "no TLS with \(peer): \(reason)"
    case .closedBeforeResponse: "\(peer) closed the connection without a response"
    case .notProcessed: "\(peer) refused the request without processing it"
    case .closedMidway: "\(peer) closed the connection within its response"
    case .badResponse(let reason): "\(peer)'s response breaks HTTP: \(reason)"
    case .responseTimeout: "\(peer) did not respond in time"
    case .connectionLimit: "all connections to \(peer) are in use"
    case .noDescriptor: "no descriptor for a connection to \(peer); raise LimitNOFILE= of the unit, or ulimit -n"
    }
  }
}

extension UpstreamFailure {
  /// The failure of an attempt to connect, in the system's words, without the type names around them.
  init(ofConnecting error: any Error) {
    self =
      switch error {
      case ChannelError.connectTimeout: .connectTimeout
      case let error as IOError: Self.system(error.errnoCode)
      case let error as UnresolvedHostError: .unresolved(error.description)
      default: .connect(String(describing: error))
      }
  }

  private static func system(_ code: CInt) -> UpstreamFailure {
    let words = String(cString: strerror(code))
    return switch code {
    case EMFILE, ENFILE: .noDescriptor
    case EADDRNOTAVAIL:
      .localShortage(
        "\(words): this system has no local port left towards it; raise upstream.idle_connections, so that "
          + "connections are used again, widen net.ipv4.ip_local_port_range, or list further addresses; or the "
          + "address is of IPv6, which is off here")
    case ENOBUFS, ENOMEM:
      .localShortage(
        "\(words): this system has no memory for another socket; look at its memory and net.ipv4.tcp_mem")
    default: .connect(words)
    }
  }
}
