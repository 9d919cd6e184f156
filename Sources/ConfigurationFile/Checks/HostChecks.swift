import AccessPolicy
import WebFormats

/// Turns the hosts of a document into settings.
enum HostChecks {
  /// The largest number of hosts.
  static let limit = 1_000

  /// - Parameter asksForAccess: whether the page of a refused user has a button to ask for access.
  /// - Returns: the indexes of the valid hosts in the document.
  static func check(
    _ builders: [DocumentReader.Element<HostBuilder>], asksForAccess: Bool, _ files: FileAccess,
    into configuration: inout Configuration, _ context: inout DecodingContext
  ) -> [Int] {
    var places: [Int] = []
    for (index, builder, _) in builders {
      let path = path(at: index)
      UpstreamChecks.checkName(builder.upstream, at: path.appending("upstream"), configuration, &context)
      let templates = TemplateChecks.templates(
        in: builder.templates, at: path.appending("templates"), asksForAccess: asksForAccess, files, &context)
      guard let origin = origin(builder.name, at: path, places, configuration, &context) else {
        context.noteInvalidHost(builder.name)
        continue
      }
      guard places.count < limit else {
        context.report(atKey: path, "there are more than \(limit) hosts", remedy: "remove this one")
        return places
      }
      configuration.hosts.append(
        HostConfiguration(
          host: HostSettings(origin: origin, upstream: UpstreamChecks.routeName(builder.upstream)),
          applicationName: builder.applicationName, templates: templates))
      places.append(index)
    }
    return places
  }

  static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.host.name).appending(index) }

  /// The origin of a host; nil if it cannot be a host, with a problem unless `public_url` has one already.
  /// - Parameter places: the indexes of the hosts before it.
  private static func origin(
    _ name: String, at path: NodePath, _ places: [Int], _ configuration: Configuration,
    _ context: inout DecodingContext
  ) -> PublicOrigin? {
    guard let publicOrigin = publicOrigin(configuration, context) else { return nil }
    let key = path.appending("name")
    let origin: PublicOrigin
    do throws(PublicOriginError) {
      origin = try self.origin(name, of: publicOrigin)
    } catch .plainHTTP {
      context.report(
        at: key, "public_url is plain http, which is for loopback only, and this host is elsewhere",
        remedy: "write https:// in public_url, or a name of localhost here, as in \"wiki.localhost:8080\"")
      return nil
    } catch {
      context.report(at: key, "\(path).name is not a host", remedy: "write a host, as in \"wiki.example.com\"")
      return nil
    }
    if origin == publicOrigin {
      context.report(
        at: key, "this is the host of public_url, which is always there",
        remedy: "remove this [[host]]; routes without host are for it, and [upstream] and [pages] have its settings")
      return nil
    }
    if isAlias(origin, of: publicOrigin, configuration) {
      context.report(
        at: key, "this host is one of listen.hosts, whose requests are treated as those of public_url",
        remedy: "remove it there or here")
      return nil
    }
    if let other = configuration.hosts.firstIndex(where: { $0.host.origin == origin }) {
      let line = context.location(of: self.path(at: places[other]).appending("name")).line
      context.report(
        at: key, "there is a [[host]] \"\(origin.authority)\" already, in line \(line)", remedy: "remove one of them")
      return nil
    }
    return origin
  }

  /// The hosts that a route holds for.
  /// - Parameter name: as it is written; nil if it is missing.
  /// - Returns: nil, and a problem, if it names no host; nil also if that is unknown because of a problem that is
  ///   reported already.
  static func scope(
    _ name: String?, at path: NodePath, _ configuration: Configuration, _ context: inout DecodingContext
  ) -> RouteSettings.HostScope? {
    guard let name else { return .publicURL }
    if name.utf8.elementsEqual("*".utf8) { return .all }
    guard let publicOrigin = publicOrigin(configuration, context) else { return nil }
    let origin = try? origin(name, of: publicOrigin)
    if origin == publicOrigin { return .publicURL }
    if let origin, configuration.hosts.contains(where: { $0.host.origin == origin }) { return .named(origin.authority) }
    if context.isInvalidHost(name) { return nil }
    if let origin, isAlias(origin, of: publicOrigin, configuration) {
      context.report(
        at: path, "this host is one of listen.hosts, whose requests follow the routes of public_url",
        remedy: "remove the key, or move the host from listen.hosts to a [[host]]")
      return nil
    }
    let origins = configuration.hosts.map(\.host.origin) + [publicOrigin]
    // A port that is left out is no typing error of another name.
    let nearest =
      origins.first { $0.host == origin?.host }?.authority
      ?? NearestKey.find(name, among: origins.map(\.authority))
    let completed = origin.flatMap { withPort($0, of: publicOrigin) }
    let table = "write [[host]] with name = \"\(completed ?? name)\"\(completed == nil ? "" : ", and the same here")"
    context.report(
      at: path, "there is no host \(WrittenText(value: name, written: name).shown)",
      remedy: nearest.map { "did you mean \"\($0)\"?" } ?? "\(table), or remove the key for the host of public_url")
    return nil
  }

  /// The authority of a host with the port of `public_url`, if that has one and the host has none.
  static func withPort(_ origin: PublicOrigin, of publicOrigin: PublicOrigin) -> String? {
    guard origin.port == origin.scheme.defaultPort, publicOrigin.port != publicOrigin.scheme.defaultPort else {
      return nil
    }
    return "\(origin.host):\(publicOrigin.port)"
  }

  private static func publicOrigin(_ configuration: Configuration, _ context: DecodingContext) -> PublicOrigin? {
    context.validKeys.contains("public_url") ? try? configuration.publicOrigin : nil
  }

  private static func origin(_ name: String, of publicOrigin: PublicOrigin) throws(PublicOriginError) -> PublicOrigin {
    try PublicOrigin(parsing: "\(publicOrigin.scheme.rawValue)://\(name)")
  }

  private static func isAlias(_ origin: PublicOrigin, of publicOrigin: PublicOrigin, _ configuration: Configuration)
    -> Bool
  {
    let list = try? AuthorityList(origin: publicOrigin, hosts: configuration.aliases)
    return list?.place(Array(origin.authority.utf8).span) == .alias
  }
}
