/// Where the gateway listens, and what it accepts there (`[listen]` of the configuration).
public struct ListenerSettings: Sendable, Equatable {
  /// The address that the listener binds.
  public var address: BindAddress
  /// The certificate and key of the listener; nil listens in cleartext.
  public var tls: TLSFiles?
  /// What is spoken. Default: nil: ``HTTPProtocol/http2`` and ``HTTPProtocol/http1`` over TLS, where the client chooses
  /// (ALPN); in cleartext ``HTTPProtocol/http1`` alone. Never empty.
  public var protocols: [HTTPProtocol]?
  /// Peers whose `X-Forwarded-For`, `X-Original-URI` and the like are believed. Default: nobody. Where a PROXY header
  /// announces another address, that one is looked for here.
  public var trustedProxies: [NetworkPrefix]
  /// Peers that begin each connection with a PROXY header (version 1 or 2), and must. From others it is a malformed
  /// request. Default: nobody.
  public var proxyProtocolPeers: [NetworkPrefix] = []
  /// What one request may be at most.
  public var limits: RequestLimits
  /// How long each step of a client connection may take.
  public var timeouts: ListenerTimeouts

  public init(
    address: BindAddress, tls: TLSFiles? = nil, trustedProxies: [NetworkPrefix] = [], limits: RequestLimits = .init(),
    timeouts: ListenerTimeouts = .init()
  ) {
    self.address = address
    self.tls = tls
    self.trustedProxies = trustedProxies
    self.limits = limits
    self.timeouts = timeouts
  }
}

/// What a listener speaks.
public enum HTTPProtocol: String, Sendable, Equatable, CaseIterable {
  /// HTTP/2 (RFC 9113). In cleartext for clients that begin with it ("prior knowledge", 3.3).
  case http2 = "h2"
  /// HTTP/1.1 (RFC 9112), and 1.0.
  case http1 = "http/1.1"
}

extension ListenerSettings {
  /// ``protocols`` with its default.
  public var spokenProtocols: [HTTPProtocol] { protocols ?? (tls == nil ? [.http1] : [.http2, .http1]) }

  /// The names that ALPN knows them by (RFC 7301 6), the preferred one first, whatever their order in the file.
  var applicationProtocols: [String] {
    let spoken = spokenProtocols
    return HTTPProtocol.allCases.filter { spoken.contains($0) }.map(\.rawValue)
  }
}

/// An address to bind: an IP address with a port, or a Unix socket's path.
public enum BindAddress: Sendable, Equatable, CustomStringConvertible {
  /// A numeric IPv4 or IPv6 address (no brackets) and a port; port 0 lets the system choose.
  case ip(host: String, port: UInt16)
  /// The absolute path of a Unix stream socket.
  case unix(path: String)

  public var description: String {
    switch self {
    case .ip(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}

/// A PEM certificate chain and its PEM private key, as absolute paths.
public struct TLSFiles: Sendable, Equatable {
  public var certificateFile: String
  public var privateKeyFile: String

  public init(certificateFile: String, privateKeyFile: String) {
    self.certificateFile = certificateFile
    self.privateKeyFile = privateKeyFile
  }
}

/// What one request, and all connections together, may be at most. A request beyond a limit is refused before a byte of
/// it goes upstream.
public struct RequestLimits: Sendable, Equatable {
  /// Bytes of a request head: request line and fields. Default: 32,768 (32 KiB); at most 65,535. Beyond: 431.
  public var headBytes = 32_768
  /// Fields of a request head. Default: 100. Beyond: 431.
  public var fieldCount = 100
  /// Bytes of the request target. Default: 8,192 (8 KiB). Beyond: 414.
  public var targetBytes = 8_192
  /// Bytes of a request body, nil for no limit. Default: nil: the application behind the gateway knows. Beyond: 413.
  public var bodyBytes: Int?
  /// Bytes of a request body that have to arrive each second, on average since its head and not counting the time in
  /// which the gateway did not read it. Asked for after ``ListenerTimeouts/bodyGrace``. Default: 240; 0 asks for none.
  /// Slower: 408.
  public var bodyRate = 240
  /// Client connections at a time. Default: 10,000; never more than half of the descriptors that the process may have.
  /// One beyond is answered 503 and closed.
  public var connections = 10_000

  public init() {}
}

/// How long each step of a client connection may take. Kept by a wheel that turns four times a second: times are
/// rounded up to a quarter of a second.
public struct ListenerTimeouts: Sendable, Equatable {
  /// From the first byte of a request head to its last. Default: 15 s. Then: 408.
  public var head: Duration = .seconds(15)
  /// Between two reads of a request body. Default: 60 s. Then: 408.
  public var bodyProgress: Duration = .seconds(60)
  /// From the head of a request until ``RequestLimits/bodyRate`` is asked for. Default: 10 s.
  public var bodyGrace: Duration = .seconds(10)
  /// Between two requests on a kept connection. Default: 75 s. Then it is closed.
  public var idle: Duration = .seconds(75)
  /// Without progress of a response that the client does not read. Default: 60 s. Then it is closed.
  public var writeProgress: Duration = .seconds(60)
  /// From accept to the end of the PROXY header, where there is one, and from there to the end of the TLS handshake.
  /// Default: 10 s. Then it is closed.
  public var handshake: Duration = .seconds(10)

  public init() {}
}
