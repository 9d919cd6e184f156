import DataPlane
import Sessions

/// One of `[[upstreams]]` while it is read.
struct UpstreamBuilder: DecodingTarget {
  var name = ""
  var url: UpstreamAddress?
  var urls: [UpstreamAddress]?
  var speaks = HTTPProtocol.http1
  var lenient: [UpstreamLenience] = []
  var cookies = UpstreamCookieSettings()
  var idleConnections: Int?
  var maximumConnections: Int?
  var queueLimit: Int?
  var checkPath: String?
  var tls = UpstreamTLSBuilder()
  var forwarding = UpstreamForwardingBuilder()
  var timeouts = UpstreamTimeoutsBuilder()
}

/// `[upstreams.timeouts]` while it is read. Timeouts that are not set are inherited from `[upstream.timeouts]`.
struct UpstreamTimeoutsBuilder: Sendable {
  var connect: Duration?
  var firstByte: Duration?
  var bodyProgress: Duration?
  var idle: Duration?
  var tunnel: Duration?

  func apply(to timeouts: inout UpstreamTimeouts) {
    if let connect { timeouts.connect = connect }
    if let firstByte { timeouts.firstByte = firstByte }
    if let bodyProgress { timeouts.bodyProgress = bodyProgress }
    if let idle { timeouts.idle = idle }
    if let tunnel { timeouts.tunnel = tunnel }
  }
}

/// The forwarding settings of an upstream while they are read. `[[upstreams]]` inherit none of them.
struct UpstreamForwardingBuilder: Sendable {
  var host: String?
  var strippedPrefix: String?
  var removedHeaders: [String] = []
  var rewritesRedirects = true
  var requestBuffer: Int?
  var headers: [UpstreamHeaderSettings.Header] = []
  var basic: BasicCredentialsTemplate?

  func apply(to settings: inout UpstreamSettings) {
    settings.host = host
    settings.strippedPrefix = strippedPrefix
    settings.removedHeaders = removedHeaders
    settings.ownHeaders = headers(of: settings.name).names
    settings.rewritesRedirects = rewritesRedirects
    settings.requestBuffer = requestBuffer
  }

  func headers(of upstream: String) -> UpstreamHeaderSettings {
    UpstreamHeaderSettings(upstream: upstream, headers: headers, basic: basic)
  }
}

/// The TLS settings of an upstream while they are read.
struct UpstreamTLSBuilder: Sendable {
  var authorityFile: String?
  /// Halves of the client's certificate, until both are seen.
  var certificateFile: String?
  var privateKeyFile: String?
  var serverName: String?

  var settings: UpstreamTLSSettings {
    var settings = UpstreamTLSSettings()
    settings.authorityFile = authorityFile
    settings.serverName = serverName
    if let certificateFile, let privateKeyFile {
      settings.certificate = TLSFiles(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    }
    return settings
  }
}
