import AccessPolicy

/// A valid configuration, with its warnings and the explanations of its routes.
package struct CheckedConfiguration: Sendable {
  /// The settings, with all defaults.
  package let configuration: Configuration
  /// Warnings about possible mistakes, in the order of the file; of more than 50 the first, and their number.
  package let warnings: [ConfigurationDiagnostic]
  /// The effective settings of each route, in the order of the file, and last of all other requests if there are any:
  /// those of the host of `public_url`, then those of each `[[host]]`.
  package let explanations: [RouteExplanation]

  init(_ configuration: Configuration, _ places: DocumentPlaces, _ context: DecodingContext) {
    self.configuration = configuration
    let writer = RouteExplanationWriter(configuration: configuration, places: places, context: context)
    let hosts = configuration.effectiveHosts
    explanations = hosts.flatMap { host in
      let isCovered = host.routeForEverything(among: configuration.routes) != nil
      return host.routes.map { writer.explanation(of: $0, on: host.host) }
        + (isCovered ? [] : [writer.explanation(ofOthersOn: host)])
    }
    warnings =
      ConfigurationWarnings(configuration: configuration, places: places, context: context).all(hosts).limited
  }
}

extension Configuration {
  /// The effective settings on each host, of a valid configuration.
  var effectiveHosts: [EffectiveHost] {
    // The routes of a valid one were compiled before.
    let hosts = try? EffectiveHost.all(
      access: access, routes: routes, groups: groups.map(\.name), hosts: self.hosts.map(\.host))
    return hosts ?? []
  }
}
