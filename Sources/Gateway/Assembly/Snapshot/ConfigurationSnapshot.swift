internal import AccessPolicy
internal import DataPlane
internal import WebFormats

/// A configuration and everything derived from it: built completely before any of it takes effect, so that applying it
/// cannot fail.
struct ConfigurationSnapshot: Sendable {
  let settings: GatewaySettings
  let keys: GatewayKeys
  private(set) var gate: GateConfiguration
  let button: AppleButton
  /// The endpoints of each site, by its number.
  private(set) var endpoints: [SiteEndpoints]
  let upstreams: [WatchedUpstream]
  let listener: ListenerConfiguration
  let adminAuthorization: AdminAuthorization
  /// The application's endpoint for notifications; nil if they are not forwarded.
  let relayRoute: NotificationRelay.Route?
  /// The members files as they were read.
  private(set) var members: MembersFiles
  /// Nil for no limit.
  let signInLimit: SignInLimit?

  /// The snapshot after members files were read again without a change of groups.
  func with(_ members: MembersFiles) -> ConfigurationSnapshot {
    var snapshot = self
    snapshot.members = members
    return snapshot
  }

  /// The snapshot with other members of the same groups, and what depends on them.
  func with(
    _ members: MembersFiles, gate: GateConfiguration, endpoints: [SiteEndpoints]
  ) -> ConfigurationSnapshot {
    var snapshot = with(members)
    snapshot.gate = gate
    snapshot.endpoints = endpoints
    return snapshot
  }

  /// The groups of the configuration, with the members of their files.
  var groups: GroupDirectory { gate.sessions.policy.groups }

  /// The part that the status page shows.
  var status: StatusConfiguration {
    StatusConfiguration(
      site: settings.publicAddress.origin.authority,
      hosts: zip(settings.hostNames, [RouteSettings.defaultUpstream] + settings.routing.sites.map(\.host.upstream))
        .map { $0 },
      certificates: listener.certificates, apple: settings.apple,
      session: settings.session, groups: groups)
  }
}
