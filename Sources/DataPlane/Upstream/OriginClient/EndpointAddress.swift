/// A URL for POST requests: address, authority and path.
package struct EndpointAddress: Sendable, Equatable, CustomStringConvertible {
  /// Address to connect to.
  package var address: UpstreamAddress
  /// Value of `Host`.
  package var authority: String
  /// Begins with `/`; with the query, if there is one.
  package var path: String

  /// The parts of a URL that was parsed already.
  package init(address: UpstreamAddress, authority: String, path: String) {
    self.address = address
    self.authority = authority
    self.path = path
  }

  /// As the configuration writes it, with the port.
  package var description: String { "\(address)\(path)" }
}
