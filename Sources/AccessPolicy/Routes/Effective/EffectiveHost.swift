/// The effective settings on one host.
package struct EffectiveHost: Sendable, Equatable {
  /// The place among the configured hosts; nil for that of `public_url`.
  package var host: Int?
  /// The routes that hold there, in the configured order.
  package var routes: [Route]
  /// The settings of requests that no route holds for.
  package var elsewhere: EffectiveRoute
  /// The routes that must admit such a request, too, if it acts on a folder that they are in.
  package var narrower: [Int]

  /// The effective settings on each host: that of `public_url`, then the others in the configured order.
  /// - Throws: every problem of the routes at once.
  package static func all(
    access: AccessSettings, routes: [RouteSettings], groups: [String] = [], hosts: [HostSettings]
  ) throws(RouteTableError) -> [EffectiveHost] {
    let checked = try CheckedRoutes(validRoutes: routes, access, GroupNumbers(groups))
    let names = checked.methodNames
    let named = NamedHost.all(hosts, []).map { Optional($0) }
    return ([nil] + named).map { host in
      let hostRoutes = HostRoutes(checked, host: host)
      let indexes = checked.indexes(for: host?.name).sorted()
      let settings = Dictionary(uniqueKeysWithValues: indexes.map { ($0, hostRoutes.effectiveSettings(of: $0, names)) })
      let elsewhere = hostRoutes.effectiveDefault
      let narrower = hostRoutes.narrowerRoutes(than: indexes)
      func admitsFewer(_ route: Int, than other: EffectiveRoute?) -> Bool {
        settings[route]?.parts.contains { $0.methods.canReachBelow && $0.value.admitsFewer(than: other) } ?? false
      }
      return EffectiveHost(
        host: host?.number,
        routes: indexes.map { index in
          let own = settings[index] ?? ByMethod()
          let rest = hostRoutes.effectiveSettings(ofRestAt: index, names)
          return EffectiveHost.Route(
            index: index, settings: own,
            otherWrites: hostRoutes.effectiveSettings(of: index, withOther: EffectiveHost.Route.writingMethods),
            narrower: narrower[index, default: []].filter { admitsFewer($0, than: own.only) },
            rest: EffectiveHost.Route.sources(of: rest, besides: own),
            hasEffect: own.parts.contains { $0.value.comes(fromRoute: index) })
        },
        elsewhere: elsewhere,
        narrower: hostRoutes.statingRoutes(among: indexes).filter { admitsFewer($0, than: elsewhere) })
    }
  }

  /// A route on this host.
  package struct Route: Sendable, Equatable {
    /// Its place in the configured order.
    package var index: Int
    /// The settings of requests for its own path.
    package var settings: ByMethod<EffectiveRoute>
    /// The settings of requests for its own path with those ``writingMethods`` that it does not hold for. Empty for a
    /// route for all methods.
    package var otherWrites: ByMethod<EffectiveRoute>
    /// The routes below its path that must admit a request, too, that acts on what is there (``RequestDepth``).
    package var narrower: [Int]
    /// The table that states who is admitted below the path of an exact route, by the methods of such requests that it
    /// must admit, too.
    package var rest: [String: EffectiveRoute.Source]
    /// Whether any setting of any request there comes from it.
    package var hasEffect: Bool

    /// The usual methods that change something (RFC 9110, 9.3; RFC 5789).
    static let writingMethods = ["DELETE", "PATCH", "POST", "PUT"]

    /// The tables of ``rest``.
    /// - Parameters:
    ///   - rest: the settings below the path.
    ///   - own: those of the path itself.
    fileprivate static func sources(
      of rest: ByMethod<EffectiveRoute>, besides own: ByMethod<EffectiveRoute>
    ) -> [String: EffectiveRoute.Source] {
      var result: [String: EffectiveRoute.Source] = [:]
      for method in RequestDepth.methods {
        guard let below = rest.part(of: method)?.value, below.admitsFewer(than: own.part(of: method)?.value) else {
          continue
        }
        result[method] = below.access.source
      }
      return result
    }
  }
}
