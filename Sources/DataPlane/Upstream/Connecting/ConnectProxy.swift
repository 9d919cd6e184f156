internal import NIOCore
package import Secrets
internal import WebFormats

/// An HTTP proxy that connections to an origin are made through, by CONNECT (RFC 9110, 9.3.6). It learns host and port;
/// TLS is spoken with the origin.
package struct ConnectProxy: Sendable, Equatable, CustomStringConvertible {
  /// A name, an IPv4 address, or an IPv6 address without brackets.
  package var host: String
  /// The proxy's port, 1 to 65535.
  package var port: UInt16
  /// The value of `Proxy-Authorization`. Default: nil: none.
  package var authorization: Secret<Authorization>?

  /// Marks the value of `Proxy-Authorization`.
  package enum Authorization {}

  /// A proxy that is spoken to in cleartext, with credentials or without.
  package init(host: String, port: UInt16, authorization: Secret<Authorization>? = nil) {
    self.host = host
    self.port = port
    self.authorization = authorization
  }

  /// As the configuration writes it, without credentials.
  package var description: String { "\(address)" }

  var address: UpstreamAddress { .tcp(host: host, port: port, tls: false) }

  /// The request for a tunnel to `host` and `port`.
  func request(_ host: String, _ port: UInt16) -> ByteBuffer {
    let authority = "\(Host.bracketed(host)):\(port)"
    var request = ByteBuffer(string: "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n")
    if let authorization {
      request.writeString("Proxy-Authorization: ")
      request.writeBytes(authorization.exposedBytes)
      request.writeString("\r\n")
    }
    request.writeString("\r\n")
    return request
  }
}
