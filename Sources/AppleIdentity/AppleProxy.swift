package import Secrets
internal import WebFormats

/// An HTTP proxy that requests to Apple go through.
package struct AppleProxy: Sendable, Equatable, CustomStringConvertible {
  /// A name, an IPv4 address, or an IPv6 address without brackets.
  package var host: String
  /// The port.
  package var port: UInt16
  /// `user:password`, decoded. Default: nil: none are sent.
  package var credentials: Secret<Credentials>?

  /// Marks a proxy's user and password.
  package enum Credentials {}

  /// A proxy, with user and password or without.
  package init(host: String, port: UInt16, credentials: Secret<Credentials>? = nil) {
    self.host = host
    self.port = port
    self.credentials = credentials
  }

  /// The address, without user and password.
  package var description: String { "http://\(Host.bracketed(host)):\(port)" }
}
