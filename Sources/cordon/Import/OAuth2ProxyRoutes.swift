import ConfigurationFile

/// Routes that are being translated: one for each path and method, whatever options name it.
struct OAuth2ProxyRoutes {
  /// The requests that a route applies to.
  struct Place: Equatable {
    var path: String
    /// Whether it is this path only, and not what begins with it.
    var isExact = false
    /// Nil for all.
    var method: String?
  }

  private struct Route {
    let place: Place
    var settings: [(key: String, value: ConfigurationText.Value)]
    var comment: String?
  }

  private var routes: [Route] = []

  /// Adds a setting to the route of a place.
  /// - Returns: false where the route has another value for it already, which stays.
  mutating func add(_ place: Place, _ key: String, _ value: ConfigurationText.Value, comment: String?) -> Bool {
    guard let index = routes.firstIndex(where: { $0.place == place }) else {
      routes.append(Route(place: place, settings: [(key, value)], comment: comment))
      return true
    }
    if let stated = routes[index].settings.first(where: { $0.key == key }) { return stated.value == value }
    routes[index].settings.append((key, value))
    routes[index].comment = routes[index].comment ?? comment
    return true
  }

  /// Denies everything that no other route admits.
  mutating func close(comment: String) {
    var settings: [(key: String, value: ConfigurationText.Value)] = [("access", .text("deny"))]
    if let index = routes.firstIndex(where: { $0.place == Place(path: "/") }) {
      settings += routes.remove(at: index).settings.filter { $0.key != "access" }
    }
    routes.insert(Route(place: Place(path: "/"), settings: settings, comment: comment), at: 0)
  }

  func write(to configuration: inout ConfigurationText) {
    for route in routes {
      var pairs: [(key: String, value: ConfigurationText.Value)] = [("path", .text(route.place.path))]
      if route.place.isExact { pairs.append(("match", .text("exact"))) }
      if let method = route.place.method { pairs.append(("methods", .texts([method]))) }
      configuration.append("route", pairs + route.settings, comment: route.comment)
    }
  }
}
