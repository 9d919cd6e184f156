internal import WebFormats

/// An address to bind: an IP address with a port, or a Unix socket's path.
package enum BindAddress: Sendable, Equatable, CustomStringConvertible {
  /// A numeric IPv4 or IPv6 address (no brackets) and a port; port 0 lets the system choose.
  case ip(host: String, port: UInt16)
  /// The absolute path of a Unix stream socket.
  case unix(path: String)

  var isIP: Bool { if case .ip = self { true } else { false } }

  package var description: String {
    switch self {
    case .ip(let host, let port): "\(Host.bracketed(host)):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
