package import DataPlane

/// The applications behind the gateway (`[upstream]` and `[[upstreams]]`).
package struct UpstreamTables: Sendable, Equatable {
  /// The application of routes that name none.
  package var main: UpstreamSettings
  /// Further applications, which routes name.
  package var named: [UpstreamSettings]

  /// The applications of a configuration.
  package init(main: UpstreamSettings, named: [UpstreamSettings]) {
    self.main = main
    self.named = named
  }

  /// Every application, the main one first.
  var all: [UpstreamSettings] { [main] + named }
}
