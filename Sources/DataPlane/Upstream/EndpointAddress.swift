/// One address that something is posted to, with its path.
public struct EndpointAddress: Sendable, Equatable, CustomStringConvertible {
  /// Where to connect to.
  public var address: UpstreamAddress
  /// What `Host` says.
  public var authority: String
  /// Begins with `/`; with the query, if there is one.
  public var path: String

  public init(address: UpstreamAddress, authority: String, path: String) {
    self.address = address
    self.authority = authority
    self.path = path
  }

  /// As the configuration writes it, with the port.
  public var description: String { "\(address)\(path)" }
}
