internal import AccessPolicy
internal import Operations
internal import Sessions
internal import WebFormats

extension AccessChanges {
  /// For a configuration.
  init(
    _ snapshot: ConfigurationSnapshot, store: any SessionStore, sessions: SessionManager, storeHealth: StoreHealth,
    metrics: MetricsRegistry
  ) {
    let settings = snapshot.settings
    self.init(
      store: store, sessions: sessions, policy: snapshot.gate.sessions.policy, memberPlace: settings.memberPlace,
      invitationPrefix: settings.invitationPrefix, storeHealth: storeHealth, metrics: metrics,
      audit: snapshot.keys.audit)
  }
}

extension GatewaySettings {
  /// The link of an invitation without its code.
  var invitationPrefix: String {
    "\(publicAddress.origin)\(GatewayEndpoint.invite.path(below: publicAddress.prefix))/"
  }
}
