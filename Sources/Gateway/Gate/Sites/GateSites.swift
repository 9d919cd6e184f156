internal import AccessPolicy
internal import Pages

/// The sites of the gateway, found by the authority of a request.
struct GateSites: Sendable {
  /// The host of `public_url`, with its aliases.
  let publicSite: GateSite
  /// Each `[[host]]`.
  let hosts: [GateSite]
  let authorities: AuthorityList

  /// - Parameter hosts: each `[[host]]`.
  init(
    _ settings: OriginSettings, pages: PageSettings, hosts: [(host: HostSettings, pages: PageSettings)],
    routes: RouteTable
  ) throws {
    publicSite = GateSite(settings, pages: pages)
    self.hosts = try hosts.enumerated().map { index, site in
      try GateSite(site.host, pages: site.pages, index: index, prefix: settings.prefix, routes: routes)
    }
    authorities = try AuthorityList(origin: settings.origin, hosts: settings.hosts, sites: hosts.map(\.host.origin))
  }

  /// The site of a place that an authority names.
  @inline(__always)
  func site(_ place: AuthorityList.Place) -> GateSite {
    switch place {
    case .publicURL, .alias: publicSite
    case .site(let index): hosts[index]
    }
  }

  /// The site of an authority; nil if it names none.
  func site(of authority: Span<UInt8>) -> GateSite? { authorities.place(authority).map(site) }
}
