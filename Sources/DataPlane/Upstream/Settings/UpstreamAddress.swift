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
}
