/// One `[[host]]` of the configuration: a host besides that of `public_url`, with a session cookie of its own.
package struct HostSettings: Sendable, Equatable {
  /// The origin that browsers see: the scheme of `public_url`, the host, and its port if it is not the usual one.
  package var origin: PublicOrigin
  /// The name of the application that serves it where no route states one.
  package var upstream: String

  /// - Parameter upstream: ``RouteSettings/defaultUpstream`` for the application of `[upstream]`.
  package init(origin: PublicOrigin, upstream: String = RouteSettings.defaultUpstream) {
    self.origin = origin
    self.upstream = upstream
  }
}
