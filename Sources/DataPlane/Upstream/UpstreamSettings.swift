internal import HTTPWire

/// An application behind the gateway (`[upstream]` or one of `[[upstreams]]` of the configuration).
package struct UpstreamSettings: Sendable, Equatable {
  /// What routes, metrics and health call it.
  package var name: String
  /// Where it listens; at least one, at most ``addressLimit``, each once.
  package var addresses: [UpstreamAddress]
  /// What it is spoken to in. Default: HTTP/1.1.
  package var speaks = HTTPProtocol.http1
  /// How long each step towards it may take.
  package var timeouts: UpstreamTimeouts
  /// Idle connections kept per event loop and address; more only while they are used every second. Default: 64.
  package var idleConnectionsPerLoop = 64
  /// Most connections to each address, over all event loops. Default: 0: no limit.
  package var maximumConnections = 0
  /// Requests that may wait, for each address, while as many connections are in use; for as long as connecting may
  /// take. Default: 100. One more is answered 503.
  package var queueLimit = 100
  /// For `https:` addresses.
  package var tls = UpstreamTLSSettings()
  /// Mistakes in its responses that are put right instead of refused with 502. Default: none.
  package var lenient: [UpstreamLenience] = []
  /// How its addresses are asked whether they are well. Default: nil: nothing asks.
  package var check: UpstreamCheckSettings?

  /// Whether TLS is spoken with any of its addresses.
  package var usesTLS: Bool {
    addresses.contains { address in
      if case .tcp(_, _, tls: true) = address { true } else { false }
    }
  }

  /// The name of `[upstream]`.
  package static let defaultName = "default"
  /// Most addresses of one upstream.
  package static let addressLimit = 64

  package init(
    name: String = UpstreamSettings.defaultName, addresses: [UpstreamAddress], timeouts: UpstreamTimeouts = .init()
  ) {
    self.name = name
    self.addresses = addresses
    self.timeouts = timeouts
  }

  /// The same upstream with one address alone.
  package func alone(at address: UpstreamAddress) -> UpstreamSettings {
    var settings = self
    settings.addresses = [address]
    return settings
  }

  /// An upstream with one address.
  package init(address: UpstreamAddress, timeouts: UpstreamTimeouts = .init()) {
    self.init(addresses: [address], timeouts: timeouts)
  }
}

/// A mistake in the responses of an application that can be put right. What is forwarded is well-formed all the same.
package enum UpstreamLenience: String, Sendable, Equatable, CaseIterable {
  /// Lines of the head that end with LF alone.
  case bareLF = "bare-lf"
  /// `Content-Length` more than once, with the same value.
  case duplicateLength = "duplicate-length"
  /// A status from 600 to 999.
  case statusRange = "status-range"
  /// Control characters in the values of fields: each becomes a space.
  case controlBytes = "control-bytes"

  var onTheWire: ResponseLenience {
    switch self {
    case .bareLF: .bareLF
    case .duplicateLength: .duplicateLength
    case .statusRange: .statusRange
    case .controlBytes: .controlBytes
    }
  }
}

/// Where an upstream listens.
package enum UpstreamAddress: Sendable, Hashable, CustomStringConvertible {
  /// `http:` or `https:`: a host (name, IPv4, or IPv6 without brackets) and a port.
  case tcp(host: String, port: UInt16, tls: Bool)
  /// `unix:`: the absolute path of a stream socket.
  case unix(path: String)

  /// As the configuration writes it, with the port.
  package var description: String {
    switch self {
    case .unix(let path): "unix:\(path)"
    case .tcp(let host, let port, let tls):
      "\(tls ? "https" : "http")://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
    }
  }
}

/// How `https:` addresses prove who they are, and the gateway to them.
package struct UpstreamTLSSettings: Sendable, Equatable {
  /// The PEM certificates of the authorities that are believed, as an absolute path. Default: nil: the system's.
  package var authorityFile: String?
  /// What is shown to a server that asks for a client's certificate. Default: nil: nothing.
  package var certificate: TLSFiles?
  /// The name that the server's certificate has to list, and that is sent as SNI. Default: nil: the address's host.
  package var serverName: String?

  package init() {}
}

/// How long each step towards the upstream may take, rounded up to a quarter of a second.
package struct UpstreamTimeouts: Sendable, Equatable {
  /// Name, TCP and TLS together. Default: 5 s. Then: another address, or 504.
  package var connect: Duration = .seconds(5)
  /// From the end of the request to the first byte of the final response's head. Default: 60 s. Then: 504.
  package var firstByte: Duration = .seconds(60)
  /// Between two reads of a response body. Default: 300 s. Then the response is cut off.
  package var bodyProgress: Duration = .seconds(300)
  /// How long an idle connection is kept. Default: 4 s: shorter than nearly all servers keep theirs.
  package var idle: Duration = .seconds(4)
  /// Without a byte in either direction of a tunnel. Default: 0: for ever. Then the tunnel ends.
  package var tunnel: Duration = .zero

  package init() {}
}

/// How addresses are asked, from time to time, whether they are well (`[upstream.check]` of the configuration).
package struct UpstreamCheckSettings: Sendable, Equatable {
  /// What is asked for with GET: begins with `/`. An answer from 200 to 399 is well.
  package var path: String
  /// Between two checks of one address. Default: 10 s.
  package var interval: Duration = .seconds(10)
  /// How long one check may take, connection and all. Default: 2 s.
  package var timeout: Duration = .seconds(2)
  /// After how many good checks in a row an address that was not well is well again. Default: 2.
  package var healthyAfter = 2
  /// After how many bad checks in a row an address is not well. Default: 3.
  package var unhealthyAfter = 3

  package init(path: String) { self.path = path }
}
