/// One address that something is posted to, with its path.
package struct EndpointAddress: Sendable, Equatable, CustomStringConvertible {
  /// Where to connect to.
  package var address: UpstreamAddress
  /// What `Host` says.
  package var authority: String
  /// Begins with `/`; with the query, if there is one.
  package var path: String

  package init(address: UpstreamAddress, authority: String, path: String) {
    self.address = address
    self.authority = authority
    self.path = path
  }

  /// As the configuration writes it, with the port.
  package var description: String { "\(address)\(path)" }
}
