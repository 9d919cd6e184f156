internal import AccessPolicy
internal import DataPlane
internal import NIOCore
internal import WebFormats

extension PublicOrigin {
  /// A client for requests to this origin, which it reaches as browsers on this machine do. It follows no redirects.
  func client(on eventLoop: any EventLoop) async throws -> OriginClient {
    try await OriginClient(
      try UpstreamGroup(upstream), authority: authority, timeout: .seconds(5), bodyLimit: 65_536, on: eventLoop)
  }

  /// The address. Names below localhost are this machine (RFC 6761, 6.3), which not every resolver knows.
  private var upstream: UpstreamSettings {
    let isTLS = scheme == .https
    var host = host
    if host.utf8.first == UInt8(ascii: "[") { host = String(host.dropFirst().dropLast()) }
    let isName = IPAddress(host) == nil
    var settings = UpstreamSettings(
      address: .tcp(host: isName && isLoopback ? "127.0.0.1" : host, port: port, tls: isTLS))
    if isTLS, isName { settings.tls.serverName = host }
    return settings
  }
}
