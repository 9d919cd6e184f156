import ConfigurationFile

/// Routes that are being translated: one for each path, whatever options name it.
struct OAuth2ProxyRoutes {
  private struct Route {
    let path: String
    var settings: [(key: String, value: ConfigurationText.Value)]
    var comment: String?
  }

  private var routes: [Route] = []

  /// Adds a setting to the route of a path.
  /// - Returns: false where the route has another value for it already, which stays.
  mutating func add(_ path: String, _ key: String, _ value: ConfigurationText.Value, comment: String?) -> Bool {
    guard let index = routes.firstIndex(where: { $0.path.utf8.elementsEqual(path.utf8) }) else {
      routes.append(Route(path: path, settings: [(key, value)], comment: comment))
      return true
    }
    if let stated = routes[index].settings.first(where: { $0.key == key }) { return stated.value == value }
    routes[index].settings.append((key, value))
    routes[index].comment = routes[index].comment ?? comment
    return true
  }

  func write(to configuration: inout ConfigurationText) {
    for route in routes {
      configuration.append("route", [("path", .text(route.path))] + route.settings, comment: route.comment)
    }
  }
}
