internal import Operations

/// The limits of the gate's warnings, which a reload keeps.
struct GateWarnings: Sendable {
  /// Of denied `verify` requests, for each reason: clients can cause some of them, and must not hide the one that says
  /// what is wrong with the proxy.
  let verify: LogLimit
  /// Of requests that meet no `networks` because their peer is not trusted.
  let networks: LogLimit
  /// Of proxies that rewrite `Host`.
  let rewrittenHost: LogLimit
  /// Of requests that fail.
  let failures: LogLimit

  init(clock: @escaping @Sendable () -> Duration = { LogLimit.uptime() }) {
    verify = LogLimit(clock: clock)
    networks = LogLimit(clock: clock)
    rewrittenHost = LogLimit(clock: clock)
    failures = LogLimit(lines: 10, clock: clock)
  }
}
