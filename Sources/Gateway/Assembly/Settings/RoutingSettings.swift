package import AccessPolicy
internal import Sessions

/// The hosts and routes, and the users whom they admit (`[[host]]`, `[access]`, `[[route]]` and `[[group]]`).
package struct RoutingSettings: Sendable {
  /// The hosts that have a session cookie of their own.
  package var sites: [SiteSettings] { didSet { table = nil } }
  /// The access of all routes that do not say otherwise.
  package var access: AccessSettings { didSet { table = nil } }
  /// The routes, in the order of the file.
  package var routes: [RouteSettings] { didSet { table = nil } }
  /// The groups of the configuration, without the members of their files.
  package var groups: [GroupConfiguration] { didSet { table = nil } }
  /// The table of all of these, if it was compiled when they were read; a change of one of them discards it.
  package var table: RouteTable?

  /// The settings of a file. If all are empty, everybody who is signed in is admitted everywhere.
  /// - Parameter table: compiled from the others; nil if it was not.
  package init(
    sites: [SiteSettings], access: AccessSettings, routes: [RouteSettings], groups: [GroupConfiguration],
    table: RouteTable?
  ) {
    self.sites = sites
    self.access = access
    self.routes = routes
    self.groups = groups
    self.table = table
  }

  /// The table, compiled unless it was before.
  func compiled() throws(RouteTableError) -> RouteTable {
    if let table { return table }
    return try RouteTable(access: access, routes: routes, groups: groups.map(\.name), hosts: sites.map(\.host))
  }

  /// The shortest age in seconds from which any route repeats a sign-in; nil if they have no limit.
  var shortestMaxAge: Int? { ([access.maxAge] + routes.compactMap(\.maxAge)).filter { $0 > 0 }.min() }

  /// The groups of all deny lists, whose members stay members when their accounts are deleted.
  var denyGroups: Set<GroupName> { Set(access.denyGroups(with: routes).compactMap { GroupName($0) }) }
}
