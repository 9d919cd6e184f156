/// The places in a document of tables that there may be many of, for those that are in order.
struct DocumentPlaces {
  let routes: [NodePath]
  let hosts: [NodePath]

  /// - Parameters: the indices in the document.
  init(routes: [Int], hosts: [Int]) {
    self.routes = routes.map { NodePath(ConfigurationSchema.route.name).appending($0) }
    self.hosts = hosts.map { HostChecks.path(at: $0) }
  }
}
