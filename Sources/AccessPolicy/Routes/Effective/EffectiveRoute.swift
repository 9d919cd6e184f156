package import WebFormats

/// The effective settings of a route's requests, each with the place that states it.
package struct EffectiveRoute: Sendable, Equatable {
  /// The users who are admitted.
  package var access: Stated<RouteSettings.Access>
  /// Additional conditions, from the most to the least specific route. On a public route deny lists only, whose
  /// users are anonymous there. None where access is `sign-out`.
  package var conditions: [Stated<AccessConditions>]
  /// The answer to requests without a session.
  package var unauthenticated: Stated<RouteSettings.Unauthenticated>
  /// The name of the application; nil for the one of `[upstream]`.
  package var upstream: Stated<String?>
  /// The least rate of a request's body; nil where none is stated: the listener's then, or none towards HTTP/2.
  package var bodyRate: Stated<Int?>
  /// Most bytes of a form that is kept in the browser while its user signs in; 0 for none.
  package var keptFormBytes: Stated<Int>
  /// The lists of networks that must each contain the client's address, from the most to the least specific route. On
  /// a public route those of routes only, where access is `sign-out` none.
  package var networks: [Stated<[NetworkPrefix]>]
  /// The age in seconds from which a sign-in must be repeated; 0 for none.
  package var maxAge: Stated<Int>
  /// Whether machine tokens are accepted.
  package var tokens: Stated<Bool>
  /// The answer to CORS preflights.
  package var preflight: Stated<RouteSettings.Preflight>

  /// The effective settings of each route by method, in the configured order, and of requests without a route: those of
  /// a route for every host by the host of `public_url`.
  /// - Throws: every problem of the routes at once.
  package static func all(
    access: AccessSettings, routes: [RouteSettings], groups: [String] = [], hosts: [HostSettings] = []
  ) throws(RouteTableError) -> (routes: [ByMethod<EffectiveRoute>], elsewhere: EffectiveRoute) {
    let checked = try CheckedRoutes(validRoutes: routes, access, GroupNumbers(groups))
    let names = checked.methodNames
    let hostRoutes = HostRoutes(checked, host: nil)
    var others: [String: HostRoutes] = [:]
    for host in NamedHost.all(hosts, routes) { others[host.name] = HostRoutes(checked, host: host) }
    let result = routes.enumerated().map { index, route in
      guard case .named(let name) = route.host, let other = others[name] else {
        return hostRoutes.effectiveSettings(of: index, names)
      }
      return other.effectiveSettings(of: index, names)
    }
    return (result, hostRoutes.effectiveDefault)
  }

  /// A setting, and where it is stated.
  package struct Stated<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The setting in effect.
    package var value: Value
    /// The table that states it.
    package var source: Source

    /// A setting that a table states, or the default (``Source/standard``).
    package init(_ value: Value, by source: Source) {
      self.value = value
      self.source = source
    }
  }

  /// The place where a setting is stated.
  package enum Source: Sendable, Hashable {
    /// The route at this place of the configured order.
    case route(Int)
    /// `[access]`.
    case access
    /// The `[[host]]` at this place of the configured order.
    case host(Int)
    /// Nowhere: the default.
    case standard
  }

  /// - Parameters:
  ///   - chain: the routes that hold, by their places in `routes`, the most specific one first.
  ///   - host: the host if it is one of its own. Its routes precede those of every host, but lift no denial of
  ///     the latter; its upstream serves where no route states one.
  init(_ chain: [Int], of routes: [RouteSettings], _ settings: AccessSettings, host: NamedHost? = nil) {
    var access = Self.access(chain, of: routes)
    if host != nil, let common = Self.access(chain.filter { routes[$0].host == .all }, of: routes),
      common.value == .deny
    {
      access = common
    }
    self.access =
      access ?? settings.lists.map { Stated(.lists($0), by: .access) } ?? Stated(.signedIn, by: .standard)
    let isPublic = self.access.value == .public
    let isSignOut = self.access.value == .signOut
    conditions = isSignOut ? [] : Self.conditions(chain, of: routes, settings, isPublic: isPublic)
    unauthenticated =
      Self.first(chain) { routes[$0].unauthenticated }
      ?? Stated(settings.unauthenticated, by: settings.unauthenticated == .automatic ? .standard : .access)
    let upstream =
      Self.first(chain) { routes[$0].upstream }
      ?? host.flatMap { host in host.number.map { Stated(host.upstream, by: .host($0)) } }
    let isDefault = upstream.map { $0.value.utf8.elementsEqual(RouteSettings.defaultUpstream.utf8) } ?? true
    self.upstream = Stated(isDefault ? nil : upstream?.value, by: upstream?.source ?? .standard)
    let bodyRate = Self.first(chain) { routes[$0].bodyRate }
    self.bodyRate = Stated(bodyRate?.value, by: bodyRate?.source ?? .standard)
    keptFormBytes = Self.first(chain) { routes[$0].keptFormBytes } ?? Stated(0, by: .standard)
    networks = []
    if !isSignOut {
      for index in chain where !routes[index].networks.isEmpty {
        networks.append(Stated(routes[index].networks, by: .route(index)))
      }
      if !isPublic, !settings.networks.isEmpty { networks.append(Stated(settings.networks, by: .access)) }
    }
    maxAge =
      Self.first(chain) { routes[$0].maxAge }
      ?? Stated(settings.maxAge, by: settings.maxAge == 0 ? .standard : .access)
    tokens =
      Self.first(chain) { routes[$0].tokens } ?? Stated(settings.tokens, by: settings.tokens ? .access : .standard)
    preflight = Self.first(chain) { routes[$0].preflight } ?? Stated(.block, by: .standard)
  }

  /// Whether any of the settings is stated by a route.
  func comes(fromRoute index: Int) -> Bool {
    let source = Source.route(index)
    return access.source == source || unauthenticated.source == source || upstream.source == source
      || bodyRate.source == source || keptFormBytes.source == source || maxAge.source == source
      || tokens.source == source
      || preflight.source == source
      || conditions.contains { $0.source == source } || networks.contains { $0.source == source }
  }

  /// Whether its requests may need more than those with other settings. Not if anybody passes, or the application gets
  /// none of them.
  /// - Parameter other: nil for settings that differ by method.
  func admitsFewer(than other: EffectiveRoute?) -> Bool {
    if access.value == .signOut { return false }
    // The deny lists of `[access]` hold on every public route.
    if access.value == .public, networks.isEmpty, !conditions.contains(where: { $0.source != .access }) { return false }
    guard let other else { return true }
    let isYounger = maxAge.value > 0 && (other.maxAge.value == 0 || maxAge.value < other.maxAge.value)
    let admitsAll = access.value == other.access.value || access.value == .signedIn && other.access.value != .public
    // A route that admits everybody who is signed in admits no token.
    let admitsToken = tokens.value && (access.value != .signedIn || other.access.value == .signedIn)
    return !admitsAll || isYounger || other.tokens.value && !admitsToken
      || conditions.map(\.value) != other.conditions.map(\.value)
      || networks.map(\.value) != other.networks.map(\.value)
  }

  private static func conditions(
    _ chain: [Int], of routes: [RouteSettings], _ settings: AccessSettings, isPublic: Bool
  ) -> [Stated<AccessConditions>] {
    var result: [Stated<AccessConditions>] = []
    func add(_ stated: AccessConditions, by source: Source) {
      guard !stated.isEmpty else { return }
      let conditions = isPublic ? stated.deniesOnly : stated
      if !conditions.isEmpty { result.append(Stated(conditions, by: source)) }
    }
    for index in chain { add(routes[index].conditions, by: .route(index)) }
    add(settings.conditions, by: .access)
    return result
  }

  private static func access(_ chain: [Int], of routes: [RouteSettings]) -> Stated<RouteSettings.Access>? {
    first(chain) { routes[$0].access }
  }

  private static func first<Value>(_ chain: [Int], _ value: (Int) -> Value?) -> Stated<Value>? {
    for index in chain {
      if let value = value(index) { return Stated(value, by: .route(index)) }
    }
    return nil
  }
}
