internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPWire
internal import NIOCore
internal import Sessions
internal import WebFormats

/// Reviews open exchanges: tunnels, streams, long downloads and uploads. About once a second each is decided on as its
/// request would be, without waiting: if the store has to be asked first, the next review sees its answer.
final class OpenExchangeReview {
  private var configuration: GateConfiguration
  private let sessions: LoopSessions
  private(set) var openSessions = OpenSessions()
  /// Whether the store was asked about a session in this round of reviews.
  private var hasAsked = false

  init(_ configuration: GateConfiguration, _ sessions: LoopSessions) {
    self.configuration = configuration
    self.sessions = sessions
  }

  /// Uses another configuration from the next review on.
  func apply(_ configuration: GateConfiguration) { self.configuration = configuration }

  /// Decides on an exchange. See ``RequestGate/review(_:)``.
  func review(_ exchange: inout OpenExchange) -> ExchangeEnding? {
    guard let key = exchange.session else { return reviewAnonymous(&exchange) }
    let now = sessions.now
    let handle = PublicSessionID(key)
    let session = openSessions.session(key, at: now)
    if exchange.isActive, !exchange.isOfMachineToken { session.unnotedUse = now }
    guard let entry = refreshedEntry(of: session, handle) else {
      if let ending = session.takeEnding(at: now) { return ending }
      lookUp(handle, isMachineToken: exchange.isOfMachineToken, of: session, now)
      return nil
    }
    noteUse(of: session, in: entry)
    // First: another entry begins without the revalidation that the one before has started.
    let evaluation = session.evaluation(by: entry, sessions.configuration.generation) { openSessions.nextEvaluation() }
    guard isUsable(entry, session, now), isVerified(entry, session, now) else {
      if case .lookingUp = session.state { return nil }
      return session.takeEnding(at: now) ?? .unverifiable
    }
    guard exchange.evaluation != evaluation else { return nil }
    exchange.evaluation = evaluation
    guard isAccepted(ExchangeCredential(number: exchange.credential), entry) else { return .signInRequired }
    return ending(of: exchange) { admits($0, entry) ? nil : .forbidden }
  }

  /// Notes the use since the review before, which may have come while the session was being looked up.
  private func noteUse(of session: OpenSession, in entry: SessionCacheEntry) {
    guard let time = session.unnotedUse.take() else { return }
    if time > entry.lastSeen.time { sessions.noteUse(of: entry, time) }
  }

  /// Reviews an exchange that was forwarded without an identity: once by each configuration.
  private func reviewAnonymous(_ exchange: inout OpenExchange) -> ExchangeEnding? {
    guard exchange.evaluation != sessions.configuration.generation else { return nil }
    exchange.evaluation = sessions.configuration.generation
    // Of requests with this method only preflights were forwarded without a session elsewhere.
    let isPreflight = exchange.head.readableBytesView.starts(with: "OPTIONS ".utf8)
    return ending(of: exchange) { route in
      if case .public = route.access { return nil }
      return isPreflight && route.passesPreflights ? nil : .signInRequired
    }
  }

  /// Ends a round of reviews.
  /// - Returns: whether the store was asked in it, so that another round is worthwhile soon.
  func end() -> Bool {
    openSessions.clean(at: sessions.now)
    defer { hasAsked = false }
    return hasAsked
  }

  /// Updates the state of a session from the cache.
  /// - Returns: the entry, if it is current.
  private func refreshedEntry(of session: OpenSession, _ handle: PublicSessionID) -> SessionCacheEntry? {
    if sessions.cache.hasEnded(handle, now: sessions.now) { session.state = .over(.signInRequired) }
    switch session.state {
    case .over, .lookingUp: return nil
    case .unknown: break
    case .known(let entry, let invalidations):
      // The cache may have had no room for it; then what was known holds until something is invalidated.
      if entry.validity == .current, invalidations == sessions.cache.invalidations { return entry }
    }
    guard let entry = sessions.cache.entry(of: handle) else { return nil }
    session.state = .known(entry, invalidations: sessions.cache.invalidations)
    return entry
  }

  /// Whether the session has not expired and the store is available. If another loop, or another replica, may know
  /// better, the store is asked.
  private func isUsable(_ entry: SessionCacheEntry, _ session: OpenSession, _ now: Int64) -> Bool {
    if now >= entry.endsAt {
      session.state = .over(.signInRequired)
      return false
    }
    let isTrusted = sessions.storeHealth.isTrusted(at: now)
    if isTrusted, isInUse(entry, now) { return true }
    if !isTrusted, sessions.storeHealth.isUnavailable || sessions.storeHealth.isRefused {
      session.state = .over(.unverifiable)
    } else {
      lookUp(entry.snapshot.session.handle, isMachineToken: entry.isOfMachineToken, of: session, now)
    }
    return false
  }

  /// Whether the idle time is not over. A machine token has none.
  private func isInUse(_ entry: SessionCacheEntry, _ now: Int64) -> Bool {
    entry.isOfMachineToken || now < entry.lastSeen.time &+ sessions.configuration.idleTimeout
  }

  /// Whether the account is still verified: an open exchange starts revalidations of its account as a request does.
  private func isVerified(_ entry: SessionCacheEntry, _ session: OpenSession, _ now: Int64) -> Bool {
    // Apple knows nothing of machine tokens.
    if entry.isOfMachineToken { return true }
    guard entry.isRevalidated(sessions.configuration) else { return true }
    let (snapshot, date) = (entry.snapshot, Date(millisecondsSince1970: now))
    switch sessions.configuration.schedule.decision(account: snapshot.account, now: date) {
    case .fresh:
      session.overdueSince = nil
      session.revalidationStarted = 0
      return true
    case .background:
      if !Period(from: session.revalidationStarted, for: SessionConfiguration.evaluationInterval).contains(now) {
        session.revalidationStarted = now
        sessions.revalidate(snapshot, isOverdue: false)
      }
      return true
    case .blocking:
      guard let since = session.overdueSince else {
        session.overdueSince = now
        sessions.revalidate(snapshot, isOverdue: true)
        return true
      }
      if Period(from: since, for: Self.overduePatience).contains(now) { return true }
      if sessions.configuration.schedule.mayGoOn(account: snapshot.account, now: date) {
        // No attempt has failed: it has had no slot yet, which ends nothing.
        if !Period(from: session.revalidationStarted, for: SessionConfiguration.retryInterval).contains(now) {
          session.revalidationStarted = now
          sessions.revalidate(snapshot, isOverdue: true)
        }
        return true
      }
      sessions.noteGraceEnd(of: entry, now)
      session.state = .over(.signInRequired)
      return false
    }
  }

  /// The time for which an exchange goes on when its account is found overdue, for one last revalidation.
  private static let overduePatience: Int64 = 1_000
  /// The pause before the store is asked again after it did not answer.
  private static let lookUpPause: Int64 = 1_000

  private func lookUp(_ handle: PublicSessionID, isMachineToken: Bool, of session: OpenSession, _ now: Int64) {
    if case .lookingUp = session.state { return }
    guard !session.lookUpPause.contains(now) else {
      // It was just asked: an exchange without a current session does not outlast the outage grace.
      if !sessions.storeHealth.isTrusted(at: now) { session.state = .over(.unverifiable) }
      return
    }
    var last: SessionCacheEntry?
    if case .known(let entry, _) = session.state { last = entry }
    let use = max(session.unnotedUse ?? .min, last?.lastSeen.time ?? .min)
    session.state = .lookingUp(previous: last)
    hasAsked = true
    let bound = NIOLoopBound((review: self, session: session), eventLoop: sessions.eventLoop)
    if isMachineToken {
      sessions.load(machineToken: handle) { found in
        let (review, session) = bound.value
        review.take(found.map { SessionCacheEntry($0, review.sessions.configuration) }, of: session)
      }
    } else {
      sessions.load(handle, usedAt: use > .min ? use : nil) { found in
        let (review, session) = bound.value
        review.take(found.map { review.entry(of: $0) }, of: session)
      }
    }
  }

  private func entry(of snapshot: SessionSnapshot) -> SessionCacheEntry {
    SessionCacheEntry(
      snapshot, isSignedByCurrentKey: true, key: configuration.keyring.currentKey,
      generation: sessions.configuration.generation, sessions.configuration)
  }

  /// Applies the result of a look-up.
  private func take(_ found: OpenLookUp<SessionCacheEntry>, of session: OpenSession) {
    guard case .lookingUp(previous: let last) = session.state else { return }
    let now = sessions.now
    switch found {
    case .found(let entry):
      if let last { entry.lastSeen.time = max(entry.lastSeen.time, last.lastSeen.time) }
      noteUse(of: session, in: entry)
      // It was looked up because it seemed idle here: if it is idle to the store as well, it is over.
      session.state =
        isInUse(entry, now) ? .known(entry, invalidations: sessions.cache.invalidations) : .over(.signInRequired)
    case .none: session.state = .over(.signInRequired)
    case .outdated: session.state = .unknown
    case .storeUnavailable:
      session.lookUpPause = Period(from: now, for: Self.lookUpPause)
      guard let last, last.validity != .ended, isInUse(last, now),
        sessions.storeHealth.isTrusted(at: now)
      else {
        session.state = sessions.storeHealth.isTrusted(at: now) && last == nil ? .unknown : .over(.unverifiable)
        return
      }
      session.state = .known(last, invalidations: sessions.cache.invalidations)
    }
  }

  /// Whether the present configuration accepts the cookie, bearer token or machine token of a request.
  private func isAccepted(_ credential: ExchangeCredential, _ entry: SessionCacheEntry) -> Bool {
    entry.isOfMachineToken
      || configuration.keyring.knows(credential.key) && (configuration.acceptsBearer || !credential.isBearer)
  }

  /// Whether the credential of a request counts on the site that serves its host now: not that of a `[[host]]` which is
  /// an alias since, or the other way round. A machine token counts on every host.
  private func isAccepted(_ exchange: OpenExchange, on site: GateSite) -> Bool {
    exchange.session == nil || exchange.isOfMachineToken
      || ExchangeCredential(number: exchange.credential).scope == site.credentialScope
  }

  /// Whether a route that is not closed to everybody admits a session or machine token now.
  private func admits(_ route: RouteDecision, _ entry: SessionCacheEntry) -> Bool {
    if let token = entry.machineToken { return MachineTokens.admits(token, route, configuration.routes) }
    switch route.access {
    case .signOut, .deny: return false
    // It was forwarded with an identity: a user who is nobody there must not go on with it.
    case .public: return !entry.isNobody(on: route, sessions.configuration)
    case .signedIn: return true
    case .rules(let rules):
      if case .denied = entry.decision(of: rules, sessions.configuration) { return false }
      return true
    }
  }

  /// The decision about the request by the present configuration: about its route, and that of its `Destination`.
  /// - Parameter decision: decides on a route that is not closed to everybody, for the exchange's own client.
  private func ending(
    of exchange: OpenExchange, by decision: (RouteDecision) -> ExchangeEnding?
  ) -> ExchangeEnding? {
    func ending(on route: RouteDecision) -> ExchangeEnding? {
      switch route.access {
      case .deny, .signOut: .closed
      case .public, .signedIn, .rules: isInNetworks(exchange, of: route) ? decision(route) : .outsideNetworks
      }
    }
    var head = RequestHead()
    let bytes = exchange.head.readableBytesSpan
    guard Self.reviewParser.parse(bytes, into: &head) == .complete,
      let site = configuration.sites.site(of: bytes.extracting(head.authority)._unsafeView(as: UInt8.self)),
      let route = route(
        head.isAsteriskForm || head.path.isEmpty ? nil : head.path, method: head.methodRange,
        depth: DepthField.depth(head, bytes), bytes, of: site)
    else { return .closed }
    guard isAccepted(exchange, on: site) else { return .signInRequired }
    if let ending = ending(on: route) { return ending }
    guard head.fields.has(.destination) else { return nil }
    switch DestinationField.route(head, bytes, method: head.methodRange, of: site, configuration) {
    case .refused, .own: return .closed
    case .route(let other): return other.upstream == route.upstream ? ending(on: other) : .closed
    }
  }

  private func isInNetworks(_ exchange: OpenExchange, of route: RouteDecision) -> Bool {
    if route.networks.isEmpty { return true }
    let isKnown = ExchangeCredential(number: exchange.credential).isAddressKnown
    return configuration.routes.admits(route, from: isKnown ? IPAddress(exchange.client.address) : nil)
  }

  /// The route of an application's path; nil if the gateway refuses the path or answers it itself.
  private func route(
    _ path: Range<Int>?, method: Range<Int>, depth: RequestDepth, _ bytes: RawSpan, of site: GateSite
  ) -> RouteDecision? {
    guard let path else {
      let root = GateConfiguration.root
      return configuration.routes.match(
        root.span, .canonical, method: bytes.extracting(method)._unsafeView(as: UInt8.self), depth: depth,
        host: site.routes)
    }
    guard case .route(let route) = configuration.route(path, method: method, depth: depth, bytes, on: site) else {
      return nil
    }
    return route
  }

  private static let reviewParser = RequestHeadParser(
    limits: HeadLimits(headBytes: 65_535, fieldCount: 8, targetBytes: 65_535))
}

extension OpenExchange {
  /// Whether its request carried a machine token.
  fileprivate var isOfMachineToken: Bool { ExchangeCredential(number: credential).isMachineToken }
}
