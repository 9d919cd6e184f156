package import AccessPolicy
package import Pages

/// One `[[host]]`.
package struct HostConfiguration: Sendable, Equatable {
  /// The host's name, origin and upstream.
  package internal(set) var host: HostSettings
  /// The name on the pages of the host. Default: nil, that of `[pages]`.
  package internal(set) var applicationName: String?
  /// The templates of the host's pages. Default: nil, those of `[pages]`.
  package internal(set) var templates: OwnTemplates?

  /// The settings of the host's pages.
  /// - Parameter common: those of `[pages]`.
  package func pages(_ common: PageSettings) -> PageSettings {
    var pages = common
    if let applicationName { pages.applicationName = applicationName }
    if let templates { pages.templates = templates }
    return pages
  }
}
