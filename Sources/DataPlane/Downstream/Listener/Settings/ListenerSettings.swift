/// Listening addresses, limits and time-outs (`[listen]` and `[[listener]]` of the configuration).
package struct ListenerSettings: Sendable, Equatable {
  /// The main listener (`[listen]`).
  package var main: AcceptorSettings
  /// Further listeners, each with a name of its own. Default: none.
  package var others: [AcceptorSettings] = []
  /// Limits of requests and connections.
  package var limits: RequestLimits
  /// Time-outs of client connections.
  package var timeouts: ListenerTimeouts

  /// Every address, the main one first.
  package var acceptors: [AcceptorSettings] { [main] + others }

  /// The main listener alone; others are added afterwards.
  package init(main: AcceptorSettings, limits: RequestLimits = .init(), timeouts: ListenerTimeouts = .init()) {
    self.main = main
    self.limits = limits
    self.timeouts = timeouts
  }

  /// A cleartext listener without trusted proxies.
  package init(address: BindAddress) { self.init(main: AcceptorSettings(address: address)) }
}
