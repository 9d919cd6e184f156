internal import Logging
internal import Operations
internal import Sessions

/// The services that the endpoints of every configuration use.
struct EndpointServices: Sendable {
  let store: any SessionStore
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let tokens: MachineTokenSessions
  let appleMonitor: AppleMonitor
  let relay: NotificationRelay
  let metrics: MetricsRegistry
  let logger: Logger
  /// Limits the audit of refused acts on the people page.
  let refusals = LogLimit(lines: 10)
  /// Limits log and audit of failed sign-ins.
  let signInFailures = SignInFailureLog()
}
