internal import AccessPolicy
internal import Operations
internal import Sessions

extension AccessAdministration {
  /// For a configuration.
  init(
    _ snapshot: ConfigurationSnapshot, store: any SessionStore, sessions: SessionManager, metrics: MetricsRegistry
  ) {
    let settings = snapshot.settings
    let directory = snapshot.groups
    self.init(
      store: store, sessions: sessions, groups: { directory }, memberPlace: settings.memberPlace,
      requiresVerifiedEmail: !settings.identity.allowUnverifiedEmail,
      invitationPrefix: "\(settings.origin)\(settings.prefix)/invite/", metrics: metrics, audit: snapshot.keys.audit)
  }
}
