internal import Sessions

extension Revalidator.Dependencies {
  /// For a configuration.
  init(_ keys: GatewayKeys, _ settings: RevalidationSettings) {
    self.init(apple: keys.apple, keyring: keys.keyring, audit: keys.audit, interval: settings.interval)
  }
}
