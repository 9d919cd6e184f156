import AccessPolicy
import AppleIdentity
import Dispatch
import FoundationEssentials
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import Operations
import Secrets
import Sessions
import Synchronization
import WaitingTesting
import WebFormats

@testable import DataPlane
@testable import Gateway
@testable import HTTPWire

/// Two event loops with a gate each, before a store in memory: what a gateway has without listeners.
final class GateRig: Sendable {
  let store: MemoryStore
  let clock = TestClock()
  let apple: FakeApple
  let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))
  let loops = ProcessSessions()
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let tokens: MachineTokenSessions
  let lastSeen: LastSeenBatch
  let changes: ChangeFollower
  let storeCheck: StoreCheck
  let revalidator: Revalidator
  let revalidations: RequestRevalidations
  let health = HealthMonitor(checks: [])
  let keyring: SessionKeyring
  let settings: GatewaySettings
  private let group: MultiThreadedEventLoopGroup
  private let gates: [NIOLoopBound<LoopGate>]

  init(
    _ settings: GatewaySettings? = nil, apple: FakeApple = FakeApple(), secrets: String = "a",
    longestWait: Duration = unreachable, accessRequests: SiteEndpoints.AccessRequestQuery? = nil,
    store: MemoryStore = MemoryStore(), logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) async throws {
    self.store = store
    let settings = try settings ?? .forTests()
    self.settings = settings
    self.apple = apple
    keyring = try SessionKeyring.forTests(secrets)
    let audit = AuditTrail(LogSettings.silent, keyring: keyring)
    let provider = try apple.provider(clock)
    let clock = clock
    // Limits of messages for a time are those of the test's clock.
    let time = { @Sendable in Duration.milliseconds(clock.milliseconds) }
    storeHealth = StoreHealth(settings.store, metrics: metrics, logger: logger, now: clock.milliseconds, uptime: time)
    let unrecorded = UnrecordedResults()
    revalidator = Revalidator(
      Revalidator.Dependencies(
        apple: provider, keyring: keyring, audit: audit, interval: settings.revalidation.interval),
      store: store, storeHealth: storeHealth, unrecorded: unrecorded, metrics: metrics, health: health, logger: logger,
      longestWait: longestWait, clock: { clock.now })
    lastSeen = LastSeenBatch(loops: loops, store: store, storeHealth: storeHealth, logger: logger)
    sessions = SessionManager(
      store: store, loops: loops, storeHealth: storeHealth, unrecorded: unrecorded, lastSeen: lastSeen,
      settings: settings.session, metrics: metrics, clock: { clock.milliseconds })
    let tokens = MachineTokenSessions(
      store: store, key: { store.key }, loops: loops, storeHealth: storeHealth, metrics: metrics,
      clock: { clock.milliseconds })
    self.tokens = tokens
    changes = ChangeFollower(store: store, sessions: sessions, loops: loops, storeHealth: storeHealth)
    let revalidations = RequestRevalidations(revalidator, sessions: sessions)
    self.revalidations = revalidations
    storeCheck = StoreCheck(
      store: store, storeHealth: storeHealth, lastSeen: lastSeen, revalidations: revalidations
    ) { clock.milliseconds }
    let configuration = try GateConfiguration(settings, keyring: keyring, warnings: GateWarnings(clock: time))
    group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let nothing = EndpointAction(bodyLimit: 0, label: .init(number: 0)) { _ in ControlResponse(.ok) }
    let actions = Dictionary(
      uniqueKeysWithValues: GatewayEndpoint.allCases.filter { $0 != .verify && $0 != .arrive }.map { ($0, nothing) })
    let ofHosts = Dictionary(
      uniqueKeysWithValues: [GatewayEndpoint.signIn, .arrive, .session, .signOut, .button].map { ($0, nothing) })
    let endpoints =
      [
        SiteEndpoints(
          actions: actions, applicationSignOut: nothing, keepForm: { _ in nothing }, accessRequests: accessRequests)
      ]
      + settings.routing.sites.map { _ in
        SiteEndpoints(actions: ofHosts, applicationSignOut: nothing, keepForm: { _ in nothing })
      }
    var gates: [NIOLoopBound<LoopGate>] = []
    for loop in group.makeIterator() {
      let gate = try await loop.submit { [loops, sessions, storeHealth, lastSeen] in
        let loopSessions = LoopSessions(
          configuration.sessions, manager: sessions, tokens: tokens, revalidations: revalidations,
          lastSeen: lastSeen, storeHealth: storeHealth, eventLoop: loop)
        loops.add(NIOLoopBound(loopSessions, eventLoop: loop))
        return NIOLoopBound(
          LoopGate(configuration, sessions: loopSessions, endpoints: endpoints, logger: logger), eventLoop: loop)
      }.get()
      gates.append(gate)
    }
    self.gates = gates
  }

  func stop() async throws { try await group.shutdownGracefully() }

  /// A cached session of a loop, which it does not keep in memory.
  final class CachedEntry: @unchecked Sendable {
    fileprivate(set) weak var entry: SessionCacheEntry?
  }

  func cachedEntry(of handle: PublicSessionID, loop: Int = 0) async throws -> CachedEntry {
    let gate = gates[loop]
    return try await gate.eventLoop.submit {
      let cached = CachedEntry()
      cached.entry = gate.value.sessions.cache.entry(of: handle)
      return cached
    }.get()
  }

  /// The number of ends of sessions and changes of accounts that a loop remembers.
  func recentEvents(loop: Int = 0) async throws -> Int {
    let gate = gates[loop]
    return try await gate.eventLoop.submit { gate.value.sessions.cache.recentEvents }.get()
  }

  /// Another configuration, on every loop.
  func apply(_ settings: GatewaySettings, secrets: String = "a") async throws {
    let keyring = try SessionKeyring.forTests(secrets)
    for gate in gates {
      try await gate.eventLoop.submit {
        let current = gate.value.current
        let configuration = try GateConfiguration(settings, keyring: keyring, after: current.configuration)
        gate.value.apply(configuration, endpoints: current.endpoints)
      }.get()
    }
  }

  /// Other members of the same groups, on every loop.
  func apply(_ groups: GroupDirectory) async throws {
    for gate in gates {
      try await gate.eventLoop.submit {
        let current = gate.value.current
        gate.value.apply(current.configuration.with(groups), endpoints: current.endpoints)
      }.get()
    }
  }

  /// Signs somebody in; answers the session with its cookie.
  func signIn(
    _ name: String, claims: AccountClaims = AccountClaims(), identifier: SessionIdentifier = .random()
  ) throws -> (snapshot: SessionSnapshot, cookie: String) {
    guard let subject = Subject(name) else { throw RigError.noSubject }
    let token = try keyring.seal(RefreshToken("r.\(name)"), of: subject, clientID: "web")
    let snapshot = try store.signIn(name, identifier, at: clock.now, token: token, claims: claims)
    return (snapshot, cookie(of: identifier, on: .publicURL))
  }

  /// The cookie of a session on a host.
  func cookie(of identifier: SessionIdentifier, on scope: CookieScope) -> String {
    "\(CookieNames.standard.session)=\(keyring.signedCookie(for: identifier, on: scope))"
  }

  /// Makes a machine token; returns its text, and what the store keeps of it.
  func issueToken(
    _ name: String, group: String, expires: Date? = nil
  ) async throws -> (text: String, stored: MachineToken) {
    let (text, handle) = MachineTokenText.random(store.key)
    guard let name = GroupName(name), let group = GroupName(group) else { throw RigError.noSubject }
    let token = MachineToken(
      name: name, handle: handle, group: group, created: clock.now, expires: expires, by: "cli")
    try await store.create(token)
    return (text, token)
  }

  /// The directive for a request that is forwarded in the end.
  func forwarded(_ request: Asked, loop: Int = 0) async throws -> Forwarded {
    _ = try await decide(request, loop: loop)
    let gate = gates[loop]
    return try await gate.eventLoop.submit {
      guard case .forward(let directive) = try Self.gateDecision(request, gate.value) else {
        throw RigError.notForwarded
      }
      return Forwarded(
        identity: directive.identity.map { String(decoding: $0.lines, as: UTF8.self) }, session: directive.session,
        dropsAuthorization: directive.dropsAuthorization, dropsMethodOverride: directive.dropsMethodOverride)
    }.get()
  }

  /// The response to a request that the gate answers itself in the end.
  func response(_ request: Asked, loop: Int = 0) async throws -> ControlResponse {
    _ = try await decide(request, loop: loop)
    let gate = gates[loop]
    return try await gate.eventLoop.submit {
      guard case .answer(let response, _) = try Self.gateDecision(request, gate.value) else {
        throw RigError.notAnswered
      }
      return response
    }.get()
  }

  /// The label under which that response is counted and logged.
  func label(_ request: Asked, loop: Int = 0) async throws -> RequestLabel {
    _ = try await decide(request, loop: loop)
    let gate = gates[loop]
    return try await gate.eventLoop.submit {
      guard case .answer(_, let label) = try Self.gateDecision(request, gate.value) else {
        throw RigError.notAnswered
      }
      return label
    }.get()
  }

  /// The status of the response to a request that the data plane could not carry out.
  func failure(status: Int, reason: String, loop: Int = 0) async throws -> Int {
    let gate = gates[loop]
    return try await gate.eventLoop.submit {
      gate.value.failure(status: status, reason: reason, preferences: .unknown, requestID: "r").head.status.code
    }.get()
  }

  /// The head of that response.
  func answer(_ request: Asked, loop: Int = 0) async throws -> HTTPResponse {
    try await response(request, loop: loop).head
  }

  /// Returns the decision about a request, after all suspensions.
  func decide(_ request: Asked, loop: Int = 0) async throws -> Decided {
    for _ in 0..<5 {
      switch try await decideOnce(request, loop: loop) {
      case .suspend(let work): await work()
      case let decided: return decided
      }
    }
    throw RigError.waitsForever
  }

  /// An exchange that the gate has let through, as a listener would have it reviewed.
  func open(_ request: Asked, loop: Int = 0) async throws -> OpenExchange {
    _ = try await decide(request, loop: loop)
    let gate = gates[loop]
    return try await gate.eventLoop.submit {
      guard case .forward(let directive) = try Self.gateDecision(request, gate.value) else {
        throw RigError.notForwarded
      }
      return OpenExchange(
        session: directive.session, credential: directive.credential,
        client: ClientPeer(address: request.address, isTrusted: request.isFromProxy),
        head: ByteBuffer(string: request.text))
    }.get()
  }

  /// Whether the gate lets an open exchange continue, once everything that it requested is there.
  func review(_ exchange: OpenExchange, isActive: Bool = false, loop: Int = 0) async throws -> Bool {
    try await ending(of: exchange, isActive: isActive, loop: loop) == nil
  }

  /// Returns the reason for which the gate ends an open exchange, once everything that it requested is there.
  func ending(of exchange: OpenExchange, isActive: Bool = false, loop: Int = 0) async throws -> ExchangeEnding? {
    // Each question that it asks is answered by the next review; an overdue account is given a second.
    for _ in 0..<4 {
      if let ending = try await reviewOnce(exchange, isActive: isActive, loop: loop) { return ending }
    }
    return nil
  }

  /// Has an open exchange reviewed once, and waits for what the gate requested.
  func reviewOnce(_ exchange: OpenExchange, isActive: Bool = false, loop: Int = 0) async throws -> ExchangeEnding? {
    let gate = gates[loop]
    let ending = try await gate.eventLoop.submit {
      var exchange = exchange
      exchange.isActive = isActive
      return gate.value.review(&exchange)
    }.get()
    try await settle(loop)
    return ending
  }

  /// Returns the gate's answer to a request that may not continue.
  func answer(
    to ending: ExchangeEnding, _ credential: ExchangeCredential, _ preferences: ClientPreferences = .unknown
  ) async throws -> ControlResponse {
    let gate = gates[0]
    return try await gate.eventLoop.submit {
      gate.value.answer(
        to: ending, credential: credential.number, preferences: preferences, requestID: "0")
    }.get()
  }

  /// Waits until nothing is being looked up for exchanges that are open.
  private func settle(_ loop: Int) async throws {
    let gate = gates[loop]
    try await eventually("look-ups to end") {
      try await !gate.eventLoop.submit({ gate.value.reviews.openSessions.isLookingUp }).get()
    }
  }

  /// Reads the change feed as a gateway does that has read it to here before: it answers, and has no changes.
  @discardableResult
  func follow() async -> ChangeCursor? {
    await changes.follow(ChangeCursor(text: "\(store.state.withLock { $0.changes.count })"))
  }

  /// Keeps an event loop busy until the returned function is called.
  func hold(loop: Int) -> @Sendable () -> Void {
    let semaphore = DispatchSemaphore(value: 0)
    gates[loop].eventLoop.execute { semaphore.wait() }
    return { semaphore.signal() }
  }

  /// Returns the gate's immediate decision.
  func decideOnce(_ request: Asked, loop: Int = 0) async throws -> Decided {
    let gate = gates[loop]
    return try await gate.eventLoop.submit { try Self.decide(request, gate.value) }.get()
  }

  private static func gateDecision(_ request: Asked, _ gate: LoopGate) throws -> GateDecision {
    let bytes = Array(request.text.utf8)
    let span = bytes.span.bytes
    var head = RequestHead()
    let parser = RequestHeadParser(limits: HeadLimits(headBytes: 32_768, fieldCount: 100, targetBytes: 8_192))
    guard parser.parse(span, into: &head) == .complete else { throw RigError.noHead }
    GatewayCookies(name: CookieNames.standard.session).find(span, in: &head)
    var identifiers = RequestIDSource()
    let peer = ClientPeer(address: request.address, isTrusted: request.isFromProxy)
    switch gate.decide(head, span, peer, identifiers.next()) {
    case .answerAndLog(let response, let label, let log):
      // As a listener does.
      log(proxy)
      return .answer(response, label: label)
    case let decision: return decision
    }
  }

  /// The address of the peer that has named the client of a request.
  static let proxy = "198.51.100.1"

  private static func decide(_ request: Asked, _ gate: LoopGate) throws -> Decided {
    switch try gateDecision(request, gate) {
    case .forward(let directive):
      return .forward(
        identity: directive.identity.map { String(decoding: $0.lines, as: UTF8.self) } ?? "",
        session: directive.session, upgrades: directive.allowsUpgrade)
    case .answer(let response, _):
      return .answer(response.head.status.code, location: response.head.headerFields[.location])
    // `gateDecision` has logged it.
    case .answerAndLog: throw RigError.notAnswered
    case .handle: return .handle
    case .suspend(let work): return .suspend(work)
    }
  }
}

enum RigError: Error { case noHead, noSubject, notForwarded, notAnswered, waitsForever }
