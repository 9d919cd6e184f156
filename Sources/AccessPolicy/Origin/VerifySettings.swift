/// Settings of `verify`, the endpoint that other proxies ask (`[verify]` of the configuration).
package struct VerifySettings: Sendable, Equatable {
  /// The sources of the original request that are trusted from a trusted proxy: only those that the proxy always
  /// overwrites, because many proxies forward their client's own headers. Default: ``defaultSources``.
  package var believe = VerifySettings.defaultSources

  /// Path and query only.
  package static let defaultSources: [Source] = [.originalURI, .forwardedURI]

  /// The defaults.
  package init() {}

  /// A header, or the path of the subrequest, with data about the original request.
  package enum Source: String, Sendable, CaseIterable {
    /// Path and query.
    case originalURI = "X-Original-URI"
    /// Path and query.
    case forwardedURI = "X-Forwarded-Uri"
    /// An absolute URL: host, path and query.
    case originalURL = "X-Original-URL"
    /// Path and query below `verify/`; then the method of the subrequest is the original one.
    case path
    /// The method; without one the strictest rule of all methods holds.
    case method = "X-Forwarded-Method"
    /// The host; without one that of the request if it is listed, otherwise that of `public_url`.
    case host = "X-Forwarded-Host"
    /// The client's address.
    case address = "X-Forwarded-For"
    /// `1`: a navigation without a session gets a redirect rather than 401.
    case redirect = "X-Auth-Redirect"
  }
}
