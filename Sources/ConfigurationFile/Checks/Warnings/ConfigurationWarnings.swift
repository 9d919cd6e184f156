import AccessPolicy
import AppleIdentity
import DataPlane
import Sessions
import WebFormats

/// Finds probable mistakes in a valid configuration.
struct ConfigurationWarnings {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext
  private let access = NodePath(ConfigurationSchema.access.name)

  /// In the order of the file.
  /// - Parameter hosts: the effective settings on each host.
  func all(_ hosts: [EffectiveHost]) -> [ConfigurationDiagnostic] {
    var warnings = context.warnings + keyName + fastCGI + proxies + networks + requests + groups(hosts) + members
    warnings += clientsAmongProxies
    warnings += claims + keptHeaders + returnSchemes + UserHeaders.warnings(configuration, context)
    warnings += UnlikelySubjects.warnings(configuration, places, context)
    warnings += ListWarnings(configuration: configuration, places: places, context: context).all
    warnings += EffectlessWarnings(configuration: configuration, places: places, context: context).all
    warnings += AddressWarnings.warnings(configuration, context)
    warnings += MailProviders(configuration: configuration, places: places, context: context).all
    warnings += OverriddenAccess(configuration: configuration, places: places, context: context).warnings(hosts)
    let routes = RouteWarnings(configuration: configuration, places: places, context: context).all(hosts)
    warnings += routes
    warnings += OpenHosts(configuration: configuration, places: places, context: context)
      .warnings(hosts, besides: routes)
    warnings += PrefixWarnings(configuration: configuration, places: places, context: context).all(hosts)
    if configuration.access.tokens, !hasGroups {
      warnings.append(
        context.warning(
          atKey: access.appending("tokens"),
          "tokens = true, but a token is admitted by allow_groups only, and nothing has allow_groups",
          remedy: "write allow_groups where tokens are to be admitted, or remove tokens"))
    }
    return warnings.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
    }.map(\.element)
  }

  /// A key file that still has the name that Apple gave it, but of another key.
  private var keyName: [ConfigurationDiagnostic] {
    let keyID = configuration.apple.keyID
    guard let named = AppleKeyFile.keyID(inNameOf: configuration.apple.privateKeyFile),
      !named.utf8.elementsEqual(keyID.utf8)
    else { return [] }
    return [
      context.warning(
        atKey: NodePath("apple.key_id"),
        "apple.key_id is \(keyID), but the key's file is named after the key \(named)",
        remedy: "write the identifier of the key that the file holds, or name the right file")
    ]
  }

  /// Addresses of upstreams that are usually those of FastCGI servers.
  private var fastCGI: [ConfigurationDiagnostic] {
    ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)).flatMap { settings, path in
      settings.addresses.compactMap { address in
        guard let hint = FastCGIWarnings.hint(of: address) else { return nil }
        let list = path.appending("urls")
        return context.warning(
          atKey: context.isPresent(list) ? list : path.appending("url"),
          "\(context.concealing(address.description)) may speak FastCGI, not HTTP: \(hint)",
          remedy: FastCGIWarnings.remedy)
      }
    }
  }

  /// The lists of proxies of each listener.
  private var proxyLists: [(path: NodePath, networks: [NetworkPrefix])] {
    let others = configuration.listener.others.enumerated().map { ($0.element, ListenerChecks.path(at: $0.offset)) }
    let all = [(configuration.listener.main, NodePath("listen"))] + others
    return all.flatMap { acceptor, path -> [(path: NodePath, networks: [NetworkPrefix])] in
      [
        (path.appending("trusted_proxies"), acceptor.trustedProxies),
        (path.appending("proxy_protocol_from"), acceptor.proxyProtocolPeers),
      ]
    }
  }

  /// Listeners on which every client may say that its address is another.
  private var proxies: [ConfigurationDiagnostic] {
    proxyLists.compactMap { path, networks -> ConfigurationDiagnostic? in
      guard let network = networks.first(where: \.isEverything) else { return nil }
      return context.warning(
        atKey: path,
        "\(network) is every address: each client may claim the address of another, so that networks, limits and "
          + "logs mean nothing",
        remedy: "list the proxies only")
    }
  }

  /// Networks of proxies with those of clients in them that a condition admits: any other client there may claim an
  /// address that is admitted, also through a proxy that appends the real one, because that counts as a proxy's.
  private var clientsAmongProxies: [ConfigurationDiagnostic] {
    let conditions = ([configuration.access.networks] + configuration.routes.map(\.networks)).filter { !$0.isEmpty }
    if conditions.isEmpty { return [] }
    return proxyLists.compactMap { path, networks -> ConfigurationDiagnostic? in
      // Each program of this machine may use all addresses of 127.0.0.0/8.
      for proxies in networks where !proxies.isEverything && !proxies.isLoopback {
        // A condition that admits all of them anyway has nothing to lose.
        let lists = conditions.filter { list in !list.contains { $0.covers(proxies) } }
        guard let network = lists.joined().first(where: { proxies.includes($0) }) else { continue }
        return context.warning(
          atKey: path,
          "\(proxies) includes \(network), which a condition on networks admits: all clients in \(proxies) count as "
            + "proxies, and may claim an address of \(network)",
          remedy: "list the proxies only")
      }
      return nil
    }
  }

  /// Conditions on networks while the client's address is that of the connection.
  private var networks: [ConfigurationDiagnostic] {
    let isBehindProxy = configuration.listener.acceptors.contains {
      !$0.trustedProxies.isEmpty || !$0.proxyProtocolPeers.isEmpty
    }
    let stating = configuration.routes.indices.filter { !configuration.routes[$0].networks.isEmpty }
    let tables = [access] + stating.map { places.route($0) }
    let first = tables.map { $0.appending("networks") }.filter { context.isPresent($0) }
      .min { context.location(of: $0) < context.location(of: $1) }
    guard !isBehindProxy, let first else { return [] }
    return [
      context.warning(
        atKey: first,
        "networks is evaluated with the address of the connection, because no proxy is trusted: behind one, every "
          + "client has the proxy's address or none",
        remedy: "write listen.trusted_proxies or listen.proxy_protocol_from, unless clients connect directly")
    ]
  }

  private var requests: [ConfigurationDiagnostic] {
    guard configuration.access.requests, configuration.groups.isEmpty else { return [] }
    return [
      context.warning(
        atKey: access.appending("requests"), "requests = true, but there is no group to admit anybody to",
        remedy: "declare one with [[group]], and name it in allow_groups")
    ]
  }

  /// Groups of which no list makes use, where nothing else says who may come in: neither a list, nor the route of each
  /// request.
  private func groups(_ hosts: [EffectiveHost]) -> [ConfigurationDiagnostic] {
    let conditions = [configuration.access.conditions] + configuration.routes.map(\.conditions)
    let hasLists =
      configuration.access.lists != nil
      || configuration.routes.contains { if case .lists = $0.access { true } else { false } }
    // Of tokens without a list there is a warning already.
    guard !configuration.groups.isEmpty, !hasLists, !configuration.access.tokens,
      conditions.allSatisfy({ $0.denied.groups.isEmpty })
    else { return [] }
    let isStated = hosts.flatMap { $0.settings(among: configuration.routes) }.allSatisfy {
      if case .route = $0.access.source { true } else { false }
    }
    guard !isStated else { return [] }
    return [
      context.warning(
        atKey: GroupChecks.path(at: 0),
        "there are groups, but no allow_groups names one: they restrict nothing",
        remedy: "write allow_groups into [access] or a route, unless only the application uses the groups")
    ]
  }

  /// Members that look like another kind of member.
  private var members: [ConfigurationDiagnostic] {
    configuration.groups.indices.flatMap { index in
      let path = GroupChecks.path(at: index).appending("members")
      return configuration.groups[index].members.compactMap { member -> ConfigurationDiagnostic? in
        guard let found = UnlikelySubjects.domainProblem(of: [member], context) else { return nil }
        return context.warning(atKey: path, found.problem, remedy: found.remedy)
      }
    }
  }

  /// Claims in headers that neither Apple nor the gateway is known to send.
  private var claims: [ConfigurationDiagnostic] {
    var places = HeaderPlace.all(of: configuration).flatMap { place in place.claims.map { ($0, place.path) } }
    // A valid configuration has every upstream of the document, in its order.
    for (settings, path) in ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)) {
      let own = configuration.identityHeaders.upstreams.first { UpstreamChecks.isSame($0.upstream, settings.name) }
      let password = path.appending("basic").appending("password")
      places += (own?.basic?.password.claims ?? []).map { ($0, password) }
    }
    return places.compactMap { claim, path in
      guard !IdentityHeaders.knownClaims.contains(where: { $0.utf8.elementsEqual(claim.utf8) }) else { return nil }
      return context.warning(
        atKey: path,
        "neither Apple nor the gateway is known to have the claim \(claim), and without it there is no header",
        remedy: NearestKey.find(claim, among: IdentityHeaders.knownClaims).map { "did you mean \($0)?" }
          ?? "use one of \(IdentityHeaders.knownClaims.prefix(9).joined(separator: ", "))")
    }
  }

  /// Names of headers that are never removed, or by which clients choose the user or another path.
  private var keptHeaders: [ConfigurationDiagnostic] {
    let path = NodePath("identity.keep_headers")
    // A trusted proxy may overwrite headers about the user, such as those of a client certificate.
    let hasTrustedProxy = configuration.listener.acceptors.contains { !$0.trustedProxies.isEmpty }
    return configuration.identityHeaders.keptHeaders.compactMap { name -> ConfigurationDiagnostic? in
      if !ForwardingRules.isForeign(name) {
        return context.warning(
          atKey: path, "\(name) is not removed from requests, so it need not be kept",
          remedy: "remove it from the list")
      }
      if ForwardingRules.isAboutUser(name), !hasTrustedProxy {
        return context.warning(
          atKey: path, "\(name) of any client is forwarded, and applications take it for the user",
          remedy: "remove it from the list, and write what the application reads into [identity.headers]; or name the "
            + "proxy that always overwrites it in listen.trusted_proxies")
      }
      guard ForwardingRules.isPath(name) else { return nil }
      return context.warning(
        atKey: path, "\(name) of any client is forwarded, and some applications take it for the requested path",
        remedy: "remove it from the list: listen.trusted_proxies may send it; or check that the application ignores it")
    }
  }

  /// Custom URL schemes that are not made from a domain name (RFC 8252, 7.1): other apps may use the same ones.
  private var returnSchemes: [ConfigurationDiagnostic] {
    configuration.native.returnSchemes.filter { !$0.utf8.contains(UInt8(ascii: ".")) }.map { scheme in
      context.warning(
        atKey: NodePath("native.return_schemes"),
        "the scheme \"\(context.concealing(scheme))\" has no dot: another app may have it too, and get the codes",
        remedy: "choose the reverse of a domain name of yours, as in \"com.example.app\"")
    }
  }

  private var hasGroups: Bool {
    if configuration.access.lists?.groups.isEmpty == false { return true }
    return configuration.routes.contains { route in
      if case .lists(let lists) = route.access { !lists.groups.isEmpty } else { false }
    }
  }
}
