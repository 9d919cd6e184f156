internal import AccessPolicy
internal import WebFormats

/// The public address of the gateway (`public_url`, `path_prefix` and `listen.hosts` of the configuration).
struct OriginSettings: Sendable {
  /// The origin that browsers see.
  let origin: PublicOrigin
  /// The path of the gateway's own endpoints, without a trailing slash, as in `/.auth`.
  let prefix: String
  /// Authorities accepted in addition to the origin's.
  let hosts: [String]

  /// The redirect URI that is registered with the Services ID at Apple, byte for byte.
  var redirectURI: String { origin.description + GatewayEndpoint.callback.path(below: prefix) }
}
