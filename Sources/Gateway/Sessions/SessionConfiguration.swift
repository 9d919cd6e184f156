internal import AccessPolicy
internal import FoundationEssentials
internal import Sessions

/// The part of a configuration that cached sessions depend on.
struct SessionConfiguration: Sendable {
  /// The number of this configuration in this process: values derived from another one are computed again.
  private(set) var generation: Int
  let keyring: SessionKeyring
  /// The same for the life of the process, because caches are keyed by its results.
  let fingerprinter: CookieFingerprinter
  let identity: IdentityHeaderSettings
  /// The headers of single upstreams.
  let upstreamIdentities: UpstreamIdentities
  /// The rules of all routes, by the indexes of `RuleIndexes`.
  let rules: [AccessRules]
  /// The groups and lists that users are evaluated by.
  private(set) var policy: UserPolicy
  /// The session cookies of the applications.
  let endCookies: EndCookies
  /// Nil if requests carry no assertion.
  let assertions: SessionAssertions?
  let schedule: RevalidationSchedule
  /// The time without a request after which a session ends, in milliseconds.
  let idleTimeout: Int64
  /// Bytes that the session cache of one event loop may use.
  let cacheBudget: Int

  /// - Parameters:
  ///   - omissions: logs headers that cannot be sent.
  ///   - eventLoops: how many event loops share the memory for sessions.
  ///   - previous: the configuration before, at a reload.
  init(
    session: SessionSettings, revalidation: RevalidationSettings, identity: IdentityHeaderSettings,
    policy: UserPolicy, endCookies: EndCookies, keyring: SessionKeyring, assertions: SessionAssertions?,
    omissions: HeaderOmissions, eventLoops: Int, after previous: SessionConfiguration?
  ) {
    generation = (previous?.generation ?? 0) + 1
    fingerprinter = previous?.fingerprinter ?? CookieFingerprinter()
    self.keyring = keyring
    self.identity = identity
    upstreamIdentities = UpstreamIdentities(
      identity.upstreams, upstreams: policy.routes.upstreams, omissions: omissions)
    self.policy = policy
    self.endCookies = endCookies
    rules = policy.routes.rules
    self.assertions = assertions
    schedule = RevalidationSchedule(revalidation)
    idleTimeout = session.idleTimeout.milliseconds
    cacheBudget = session.memory / eventLoops
  }

  /// The same configuration with other members of its groups.
  func with(_ groups: GroupDirectory) -> SessionConfiguration {
    var configuration = self
    configuration.generation += 1
    configuration.policy = policy.with(groups)
    return configuration
  }

  /// The interval at which the revalidation schedule is evaluated for one session.
  static let evaluationInterval: Int64 = 30_000
  /// The time before a request waits again for a revalidation that could not be made.
  static let retryInterval: Int64 = 1_000
}
