package import AccessPolicy
package import Pages

/// One `[[host]]`: its origin and its pages.
package struct SiteSettings: Sendable, Equatable {
  /// The origin, and the upstream of its routes.
  package var host: HostSettings
  /// The settings of `[pages]` with the host's own name and templates.
  package var pages: PageSettings

  /// Creates the settings of one host.
  package init(host: HostSettings, pages: PageSettings) {
    self.host = host
    self.pages = pages
  }
}
