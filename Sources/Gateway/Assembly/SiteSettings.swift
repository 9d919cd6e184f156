package import AccessPolicy
package import Pages

/// One `[[host]]`: where it is, and the pages that are shown there.
package struct SiteSettings: Sendable, Equatable {
  package var host: HostSettings
  /// Those of `[pages]`, with the host's own name and templates.
  package var pages: PageSettings

  package init(host: HostSettings, pages: PageSettings) {
    self.host = host
    self.pages = pages
  }
}
