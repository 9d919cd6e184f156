import DataPlane

/// A configuration while it is read.
struct ConfigurationBuilder: DecodingTarget {
  var configuration = Configuration()
  /// `[listen]`.
  var main = ListenerBuilder()
  /// `upstream.url` and `upstream.urls`, exactly one of which is required.
  var upstreamURL = UpstreamAddress.unix(path: "")
  var upstreamURLs: [UpstreamAddress]?
  var upstreamTLS = UpstreamTLSBuilder()
  var upstreamForwarding = UpstreamForwardingBuilder()
  /// `upstream.check`, which requires a path.
  var checkPath: String?
  var check = UpstreamCheckSettings(path: "/")
  /// `assertion.key_files` and `assertion.audience`: both or neither.
  var assertionKeyFiles: [String]?
  var audience: String?
  var access = AccessBuilder()
  /// `pages.templates`.
  var templates: String?
}

/// One of `[[host]]` while it is read.
struct HostBuilder: DecodingTarget {
  var name = ""
  var upstream = UpstreamSettings.defaultName
  var applicationName: String?
  var templates: String?
}

/// One of `[[group]]` while it is read.
struct GroupBuilder: DecodingTarget {
  var name = ""
  var members: [String] = []
  var membersFile: String?
}
