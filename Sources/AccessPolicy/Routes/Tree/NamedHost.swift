/// A host with a tree of routes of its own, while trees are built.
struct NamedHost {
  /// The authority in lower case.
  var name: String
  /// The name of the application where no route states one.
  var upstream: String
  /// The place among the configured hosts; nil for one that only a route names.
  var number: Int?

  /// The configured hosts, then those that only routes name.
  static func all(_ hosts: [HostSettings], _ routes: [RouteSettings]) -> [NamedHost] {
    var result: [NamedHost] = []
    var seen: Set<[UInt8]> = []
    func add(_ host: NamedHost) { if seen.insert(Array(host.name.utf8)).inserted { result.append(host) } }
    for (number, host) in hosts.enumerated() {
      add(NamedHost(name: host.origin.authority, upstream: host.upstream, number: number))
    }
    for case .named(let name) in routes.map(\.host) {
      add(NamedHost(name: name, upstream: RouteSettings.defaultUpstream))
    }
    return result
  }
}
