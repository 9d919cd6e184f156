/// A protocol that a listener or an upstream speaks.
package enum HTTPProtocol: String, Sendable, Equatable, CaseIterable {
  /// HTTP/2 (RFC 9113). In cleartext for clients that begin with it ("prior knowledge", 3.3).
  case http2 = "h2"
  /// HTTP/1.1 (RFC 9112), and 1.0.
  case http1 = "http/1.1"
}
