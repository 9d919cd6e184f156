/// The places in a document of tables that there may be many of, for those that are in order.
struct DocumentPlaces {
  /// The indices in the document.
  let routes: [Int]
  let hosts: [Int]

  /// The place of a route in the document, by its number among the settings.
  func route(_ number: Int) -> NodePath { NodePath(ConfigurationSchema.route.name).appending(routes[number]) }

  /// The place of a host in the document, by its number among the settings.
  func host(_ number: Int) -> NodePath { HostChecks.path(at: hosts[number]) }
}
