import AccessPolicy

/// A configuration that is in order, what is odd about it, and what its routes mean.
package struct CheckedConfiguration: Sendable {
  package let configuration: Configuration
  /// Warnings about possible mistakes, in the order of the file.
  package let warnings: [ConfigurationProblem]
  /// The effective settings of each route, in the order of the file, and last of all other requests if there are any.
  package let explanations: [RouteExplanation]

  /// - Parameter routes: the place in the document of each route.
  init(_ configuration: Configuration, routes: [Int], _ reading: DecodingContext) {
    self.configuration = configuration
    let writer = RouteExplanationWriter(configuration, routes: routes, reading)
    // The routes are in order: they were made into a table before.
    guard
      let effective = try? RouteTable.effectiveRoutes(
        access: configuration.access, routes: configuration.routes, groups: configuration.groups.map(\.name))
    else {
      (warnings, explanations) = ([], [])
      return
    }
    let isCovered = configuration.routes.contains { $0.path == "/" && $0.match == .prefix && $0.methods == nil }
    explanations =
      effective.routes.indices.map { writer.explanation(of: $0, effective.routes[$0]) }
      + (isCovered ? [] : [writer.explanation(of: nil, effective.elsewhere)])
    warnings = ConfigurationWarnings(configuration, routes: routes, reading).all(effective.routes)
  }
}
