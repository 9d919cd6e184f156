import DataPlane

/// The upstreams of a configuration by the servers that they lead to.
struct UpstreamServers {
  /// An address in one spelling. With another `Host`, a server may have other pages.
  private struct Server: Hashable {
    let host: String?
    let address: UpstreamAddress
  }

  private let upstreams: [UpstreamSettings]
  private var places: [[UInt8]: Int] = [:]
  private var sharing: [Server: [Int]] = [:]

  init(_ configuration: Configuration) {
    upstreams = [configuration.upstream] + configuration.upstreams
    for (place, settings) in upstreams.enumerated() {
      places[Array(settings.name.utf8)] = place
      for server in Self.servers(of: settings) { sharing[server, default: []].append(place) }
    }
  }

  /// The upstream with a name.
  func upstream(named name: String) -> UpstreamSettings? { places[Array(name.utf8)].map { upstreams[$0] } }

  /// The other upstreams that lead to the same pages as one does, in the configured order.
  func others(besides upstream: UpstreamSettings) -> [UpstreamSettings] {
    let own = places[Array(upstream.name.utf8)]
    let all = Set(Self.servers(of: upstream).flatMap { sharing[$0] ?? [] })
    return all.sorted().filter { $0 != own }.map { upstreams[$0] }
  }

  private static func servers(of settings: UpstreamSettings) -> [Server] {
    settings.addresses.map { Server(host: settings.host, address: $0.inOneSpelling) }
  }
}
