package import AccessPolicy
internal import WebFormats

/// The public address of the gateway (`public_url`, `path_prefix` and `listen.hosts` of the configuration).
package struct OriginSettings: Sendable {
  /// The origin that browsers see.
  package var origin: PublicOrigin
  /// The path of the gateway's own endpoints, without a trailing slash, as in `/.auth`.
  package var prefix: String
  /// Authorities accepted in addition to the origin's.
  package var hosts: [String]

  /// A public address.
  package init(origin: PublicOrigin, prefix: String, hosts: [String]) {
    self.origin = origin
    self.prefix = prefix
    self.hosts = hosts
  }

  /// The redirect URI that is registered with the Services ID at Apple, byte for byte.
  var redirectURI: String { origin.description + GatewayEndpoint.callback.path(below: prefix) }
}
