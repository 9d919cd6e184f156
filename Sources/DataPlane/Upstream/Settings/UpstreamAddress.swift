internal import WebFormats

/// Address of an upstream.
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
      "\(tls ? "https" : "http")://\(Host.bracketed(host)):\(port)"
    }
  }

  /// The address in one spelling, by which it is compared with others: names in lower case, `localhost` for `127.0.0.1`
  /// and `::1` as well, and for `0.0.0.0` and `::`, by which the system connects to this machine. That a name leads to
  /// the address of another one is not known.
  package var inOneSpelling: UpstreamAddress {
    guard case .tcp(let host, let port, let tls) = self else { return self }
    guard let address = IPAddress(host) else {
      let name = Host.isLoopback(host.utf8) ? Self.localName : Self.folded(host)
      return .tcp(host: name, port: port, tls: tls)
    }
    let isLocal = address == IPAddress("127.0.0.1") || address == IPAddress("::1") || address.isUnspecified
    return .tcp(host: isLocal ? Self.localName : address.description, port: port, tls: tls)
  }

  private static let localName = "localhost"

  private static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map(\.asciiLowercased), as: UTF8.self)
  }
}
