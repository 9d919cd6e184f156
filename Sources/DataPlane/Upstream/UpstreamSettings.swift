/// The application behind the gateway (`[upstream]` of the configuration).
public struct UpstreamSettings: Sendable, Equatable {
  /// Where it listens.
  public var address: UpstreamAddress
  /// How long each step towards it may take.
  public var timeouts: UpstreamTimeouts
  /// Idle connections kept per event loop. Default: 64.
  public var idleConnectionsPerLoop = 64

  public init(address: UpstreamAddress, timeouts: UpstreamTimeouts = .init()) {
    self.address = address
    self.timeouts = timeouts
  }
}

/// Where an upstream listens.
public enum UpstreamAddress: Sendable, Equatable {
  /// `http:` or `https:`: a host (name, IPv4, or IPv6 without brackets) and a port.
  case tcp(host: String, port: UInt16, tls: Bool)
  /// `unix:`: the absolute path of a stream socket.
  case unix(path: String)
}

/// How long each step towards the upstream may take, rounded up to a quarter of a second.
public struct UpstreamTimeouts: Sendable, Equatable {
  /// Name, TCP and TLS together. Default: 5 s. Then: 504.
  public var connect: Duration = .seconds(5)
  /// From the end of the request to the first byte of the final response's head. Default: 60 s. Then: 504.
  public var firstByte: Duration = .seconds(60)
  /// Between two reads of a response body. Default: 300 s. Then the response is cut off.
  public var bodyProgress: Duration = .seconds(300)
  /// How long an idle connection is kept. Default: 50 s: shorter than most servers keep theirs.
  public var idle: Duration = .seconds(50)

  public init() {}
}
