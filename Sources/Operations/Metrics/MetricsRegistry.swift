internal import Synchronization

/// All metrics, and the text of `/metrics`.
///
/// The data plane has a recorder for each event loop; the control plane counts its rare events in the families below;
/// values that are read on demand are gauges with a closure.
package final class MetricsRegistry: Sendable {
  /// Sign-ins by `outcome`: `success`, `cancelled`, or the reason of the failure.
  package let signIns = Counter(
    name: "cordon_sign_ins_total", help: "Completed sign-ins, by outcome.", labelNames: ["outcome"],
    expected: KnownLabels.signIns.map { [$0] })
  /// Sign-in attempts that were started, by `kind`: `web`, `native`.
  package let signInAttempts = Counter(
    name: "cordon_sign_in_attempts_total", help: "Started sign-ins.", labelNames: ["kind"],
    expected: KnownLabels.signInAttempts.map { [$0] })
  /// Sessions that ended, by `reason`: `signed_out`, `replaced`, `revoked`, `consent_revoked`, `account_removed`,
  /// `by_operator`; and those that are refused because `revalidation.grace` is over: `grace_over`. Expired sessions are
  /// not counted: they are removed in batches, much later.
  package let sessionsEnded = Counter(
    name: "cordon_sessions_ended_total", help: "Ended sessions, by reason.", labelNames: ["reason"],
    expected: KnownLabels.sessionsEnded.map { [$0] })
  /// Revalidations of refresh tokens by `verdict`: `good`, `revoked`, `misconfigured`, `unavailable`, `not_sent`; and
  /// `no_key` and `damaged`, for which Apple was not asked.
  package let checks = Counter(
    name: "cordon_checks_total", help: "Refresh token revalidations with Apple, by verdict.", labelNames: ["verdict"],
    expected: KnownLabels.checks.map { [$0] })
  /// Calls to Apple by `endpoint` (`token`, `keys`, `revoke`, …) and `outcome` (`ok`, or what went wrong).
  package let appleCalls = Counter(
    name: "cordon_apple_calls_total", help: "Calls to Apple, by endpoint and outcome.",
    labelNames: ["endpoint", "outcome"], expected: KnownLabels.appleCalls)
  /// The durations of calls to Apple, by `endpoint`.
  package let appleCallDurations = DurationHistogram(
    name: "cordon_apple_call_duration_seconds", help: "Duration of calls to Apple, in seconds.",
    labelName: "endpoint", expected: ["keys", "token"])
  /// Apple's server-to-server notifications by `type` and `outcome`.
  package let notifications = Counter(
    name: "cordon_notifications_total", help: "Notifications from Apple, by type and outcome.",
    labelNames: ["type", "outcome"], expected: KnownLabels.notifications)
  /// Notifications forwarded to the application, by `outcome`: `delivered`, `failed` (and retried), `given_up`.
  package let relays = Counter(
    name: "cordon_notification_relays_total", help: "Attempts to relay notifications, by outcome.",
    labelNames: ["outcome"], expected: KnownLabels.relays.map { [$0] })
  /// Calls to the store that failed, by `operation`.
  package let storeFailures = Counter(
    name: "cordon_store_failures_total", help: "Failed session store operations, by operation.",
    labelNames: ["operation"], expected: KnownLabels.storeOperations.map { [$0] })

  /// Times that the store had lost changes which it had confirmed, or was another one.
  package let storeRollbacks = Counter(
    name: "cordon_store_rollbacks_total", help: "Times that the session store had lost confirmed changes.",
    labelNames: [], expected: [[]])

  /// Requests of clients beyond `limits.clients.sign_ins`, by `kind`: `sign_in`, `native`, `access_request`,
  /// `invitation`.
  package let clientLimitRefusals = Counter(
    name: "cordon_client_limit_refusals_total", help: "Requests beyond limits.clients.sign_ins, by kind.",
    labelNames: ["kind"], expected: KnownLabels.clientLimitRefusals.map { [$0] })

  /// Unauthorized calls of the admin API.
  package let administrationRefusals = Counter(
    name: "cordon_administration_refusals_total", help: "Unauthorized requests to the admin API.",
    labelNames: [], expected: [[]])
  /// Reloads of the configuration.
  package let reloads: ReloadCounter

  /// One value of a family that is read on demand.
  package typealias Sample = (labels: [MetricsText.Label], value: Double)

  private struct Gauge: Sendable {
    let name: String
    let kind: MetricsText.Kind
    let help: String
    let read: @Sendable () -> [Sample]
  }

  private struct Parts {
    var requests: [RequestRecorder] = []
    var connections: [ConnectionRecorder] = []
    var machineTokens: [MachineTokenRecorder] = []
    var gauges: [Gauge] = []
    /// The names of hosts, by their numbers.
    var hosts: [String] = []
    /// The numbers of hosts, by the bytes of their names.
    var hostNumbers: [[UInt8]: Int] = [:]
  }

  private let version: String
  private let startTime: Timestamp
  private let parts = Mutex(Parts())

  /// - Parameters:
  ///   - version: the version of the program, exposed as a label of `cordon_build_info`.
  ///   - startTime: the start of the process.
  package init(version: String, startTime: Timestamp) {
    self.version = version
    self.startTime = startTime
    reloads = ReloadCounter(start: startTime)
  }

  /// A recorder for the requests of one event loop, counted for as long as the registry lives.
  package func makeRequestRecorder() -> RequestRecorder {
    let recorder = RequestRecorder()
    parts.withLock { $0.requests.append(recorder) }
    return recorder
  }

  /// The numbers under which requests of these hosts are counted: the same for each name as long as the registry lives,
  /// even if reloads add and remove hosts. Hosts beyond ``RequestRecorder/hostLimit`` are counted together.
  package func hostNumbers(of names: [String]) -> [Int] {
    parts.withLock { parts in
      names.map { name in
        let bytes = Array(name.utf8)
        if let known = parts.hostNumbers[bytes] { return known }
        guard parts.hosts.count < RequestRecorder.hostLimit - 1 else { return RequestRecorder.hostLimit - 1 }
        parts.hosts.append(name)
        parts.hostNumbers[bytes] = parts.hosts.count - 1
        return parts.hosts.count - 1
      }
    }
  }

  /// The requests of each host so far, by its name; those without a name of their own as `other`.
  package func hostRequests() -> [(host: String, requests: UInt64)] {
    let (names, counts) = (parts.withLock(\.hosts), recorderTotals().requests.hosts)
    var result = names.enumerated().map { ($0.element, counts[$0.offset]) }
    if let other = counts.last, other > 0 { result.append(("other", other)) }
    return result
  }

  /// A recorder for the connections of one event loop, counted for as long as the registry lives.
  package func makeConnectionRecorder() -> ConnectionRecorder {
    let recorder = ConnectionRecorder()
    parts.withLock { $0.connections.append(recorder) }
    return recorder
  }

  /// A recorder for the requests of one event loop that carry a machine token, counted for as long as the registry
  /// lives.
  package func makeMachineTokenRecorder() -> MachineTokenRecorder {
    let recorder = MachineTokenRecorder()
    parts.withLock { $0.machineTokens.append(recorder) }
    return recorder
  }

  /// The requests with a machine token so far, by outcome.
  package func machineTokenRequests(_ outcome: MachineTokenRecorder.Outcome) -> UInt64 {
    parts.withLock(\.machineTokens).reduce(0) { $0 &+ $1.total(outcome) }
  }

  /// Adds a gauge that is evaluated when the metrics are read; nil omits it. The closure must be fast.
  /// - Parameters:
  ///   - name: a name that no other family has, `cordon_…`; a second one of the same name is ignored.
  ///   - kind: `gauge`, or `counter` for values that never decrease (whose name ends in `_total`).
  package func addGauge(
    _ name: String, kind: MetricsText.Kind = .gauge, help: String, read: @escaping @Sendable () -> Double?
  ) {
    addGauges(name, kind: kind, help: help) { read().map { [([], $0)] } ?? [] }
  }

  /// Adds gauges that are evaluated when the metrics are read; none omits the family. The closure must be fast, and its
  /// labels few: names and addresses of the configuration.
  package func addGauges(
    _ name: String, kind: MetricsText.Kind, help: String, read: @escaping @Sendable () -> [Sample]
  ) {
    parts.withLock { parts in
      guard !parts.gauges.contains(where: { $0.name == name }) else { return }
      parts.gauges.append(Gauge(name: name, kind: kind, help: help, read: read))
    }
  }

  /// Sums over the recorders of every loop.
  func recorderTotals() -> (requests: RequestRecorder.Totals, connections: ConnectionRecorder.Totals) {
    let (requests, connections) = parts.withLock { ($0.requests, $0.connections) }
    var totals = (requests: RequestRecorder.Totals(), connections: ConnectionRecorder.Totals())
    for recorder in requests { recorder.add(to: &totals.requests) }
    for recorder in connections { recorder.add(to: &totals.connections) }
    return totals
  }

  /// The text of `/metrics`, in Prometheus text exposition format 0.0.4.
  /// - Parameter process: the present resource usage: `ProcessSample.current()`.
  package func render(process: ProcessSample) -> [UInt8] {
    let gauges = parts.withLock(\.gauges)
    var text = MetricsText()
    let (requests, connections) = recorderTotals()
    requests.write(to: &text)
    connections.write(to: &text)
    for counter in [
      signInAttempts, signIns, sessionsEnded, checks, appleCalls, notifications, relays, storeFailures,
      storeRollbacks, clientLimitRefusals, administrationRefusals,
    ] {
      counter.write(to: &text)
    }
    let hosts = hostRequests()
    if !hosts.isEmpty {
      text.family(
        "cordon_host_requests_total", .counter,
        "Requests by configured host; those for unknown hosts count for that of public_url.")
      for (host, requests) in hosts { text.sample(("host", host), value: requests) }
    }
    text.family(MachineTokenRecorder.name, .counter, MachineTokenRecorder.help)
    for outcome in MachineTokenRecorder.Outcome.allCases {
      text.sample(labels: [("outcome", outcome.label)], value: machineTokenRequests(outcome))
    }
    appleCallDurations.write(to: &text)
    reloads.write(to: &text)
    for gauge in gauges {
      let samples = gauge.read()
      if samples.isEmpty { continue }
      text.family(gauge.name, gauge.kind, gauge.help)
      for sample in samples { text.sample(labels: sample.labels, value: sample.value) }
    }
    process.write(to: &text, startTime: startTime)
    text.family("cordon_build_info", .gauge, "Always 1; the version is a label.")
    text.sample(("version", version), value: UInt64(1))
    return text.bytes
  }
}
