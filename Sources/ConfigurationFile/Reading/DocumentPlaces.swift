/// The indexes of valid repeatable tables in a document.
struct DocumentPlaces {
  /// The indexes in the document, by the number among the settings.
  let routes: [Int]
  let hosts: [Int]

  /// The path of a route in the document, by its number among the settings.
  func route(_ number: Int) -> NodePath { RouteChecks.path(at: routes[number]) }

  /// The path of a host in the document, by its number among the settings.
  func host(_ number: Int) -> NodePath { HostChecks.path(at: hosts[number]) }
}
