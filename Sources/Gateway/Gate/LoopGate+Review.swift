internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPWire
internal import NIOCore
internal import Sessions

/// Exchanges under way: tunnels, streams, long downloads and uploads. About once a second each is judged as its request
/// would be, without waiting for anything: what has to be asked first is asked, and the next review sees the answer.
extension LoopGate {
  func review(_ exchange: inout OpenExchange) -> Bool {
    let now = directory.clock()
    let handle = PublicSessionID(exchange.session)
    let session = openSessions.session(exchange.session, at: now)
    guard let entry = current(session, handle) else {
      if case .over = session.standing {
        session.noteEnd(at: now)
        return false
      }
      lookUp(handle, of: session, now)
      return true
    }
    if exchange.isActive, now > entry.lastSeen { see(entry, now) }
    guard isStanding(entry, session, now), isVerified(entry, session, now) else {
      if case .lookedUp = session.standing { return true }
      session.noteEnd(at: now)
      return false
    }
    let judgement = session.judgement(by: entry, knowledge.generation) { openSessions.nextJudgement() }
    guard exchange.judgement != judgement else { return true }
    exchange.judgement = judgement
    return admits(exchange, entry)
  }

  func reviewEnded() { openSessions.clean(at: directory.clock()) }

  /// What is known of the session, if that is still good.
  private func current(_ session: OpenSession, _ handle: PublicSessionID) -> SessionCacheEntry? {
    if memory.hasEnded(handle) { session.standing = .over() }
    switch session.standing {
    case .over, .lookedUp: return nil
    case .unknown: break
    case .known(let entry, let invalidations):
      // The memory may have no room for it; then what was known is good until something is found to be out of date.
      if entry.standing == .current, invalidations == memory.invalidations { return entry }
    }
    guard let entry = memory.entry(of: handle) else { return nil }
    session.standing = .known(entry, invalidations: memory.invalidations)
    return entry
  }

  private func see(_ entry: SessionCacheEntry, _ now: Int64) {
    entry.lastSeen = now
    if !entry.isNoted || isUrgent(entry, now) { note(entry, now) }
  }

  /// Whether the session stands by its times and the store is heard of. Where another loop, or another replica, may
  /// know better, the store is asked.
  private func isStanding(_ entry: SessionCacheEntry, _ session: OpenSession, _ now: Int64) -> Bool {
    if now >= entry.endsAt {
      session.standing = .over()
      return false
    }
    let isTrusted = directory.isTrusted(at: now)
    if isTrusted, now < entry.lastSeen &+ knowledge.idleTimeout { return true }
    if !isTrusted, directory.isStoreAway || directory.isRefusedByStore {
      session.standing = .over()
    } else {
      lookUp(entry.snapshot.session.handle, of: session, now)
    }
    return false
  }

  /// Whether the account's verification stands: an exchange makes its account due for a check as a request does.
  private func isVerified(_ entry: SessionCacheEntry, _ session: OpenSession, _ now: Int64) -> Bool {
    let snapshot = entry.snapshot
    switch knowledge.schedule.decision(account: snapshot.account, now: Date(wallClock: now)) {
    case .fresh:
      session.overdueSince = nil
      return true
    case .background:
      if now >= session.checkAsked + GateConfiguration.evaluationInterval {
        session.checkAsked = now
        directory.checkBeside(snapshot)
      }
      return true
    case .blocking:
      guard let since = session.overdueSince else {
        session.overdueSince = now
        directory.checkBeside(snapshot)
        return true
      }
      guard now - since >= Self.overduePatience else { return true }
      if knowledge.schedule.mayGoOn(account: snapshot.account, now: Date(wallClock: now)) {
        // No attempt has failed: it has had no place yet, which ends nothing.
        if now >= session.checkAsked + GateConfiguration.retryInterval {
          session.checkAsked = now
          directory.checkBeside(snapshot)
        }
        return true
      }
      session.standing = .over()
      return false
    }
  }

  /// How long an exchange goes on when its account is found overdue, for one last check.
  private static let overduePatience: Int64 = 1_000
  /// How soon the store is asked again that did not answer.
  private static let lookUpPause: Int64 = 1_000

  private func lookUp(_ handle: PublicSessionID, of session: OpenSession, _ now: Int64) {
    if case .lookedUp = session.standing { return }
    guard now >= session.looksAgain else {
      // It was just asked: without anything known, or anything that is still good, there is nothing to stand on.
      if !directory.isTrusted(at: now) { session.standing = .over() }
      return
    }
    var last: SessionCacheEntry?
    if case .known(let entry, _) = session.standing { last = entry }
    session.standing = .lookedUp(last)
    let (directory, bound) = (directory, NIOLoopBound((gate: self, session: session), eventLoop: eventLoop))
    Task {
      await directory.lookUp(handle, { bound.value.gate.takeLookUp($0, of: bound.value.session) }, on: bound.eventLoop)
    }
  }

  /// The store has answered, or has not.
  private func takeLookUp(_ found: SessionManager.Found, of session: OpenSession) {
    guard case .lookedUp(let last) = session.standing else { return }
    let now = directory.clock()
    switch found {
    case .session(let snapshot):
      let entry = SessionCacheEntry(
        snapshot, isSignedByFirstKey: true, key: knowledge.keyring.firstKey, generation: knowledge.generation, knowledge
      )
      if let last { entry.lastSeen = max(entry.lastSeen, last.lastSeen) }
      session.standing = .known(entry, invalidations: memory.invalidations)
      // Asked for because it seemed idle here: if it is to the store as well, it is.
      if now >= entry.lastSeen &+ knowledge.idleTimeout { session.standing = .over() }
    case .none: session.standing = .over()
    case .outOfDate: session.standing = .unknown
    case .storeAway:
      session.looksAgain = now + Self.lookUpPause
      guard let last, last.standing != .ended, now < last.lastSeen &+ knowledge.idleTimeout,
        directory.isTrusted(at: now)
      else {
        session.standing = directory.isTrusted(at: now) && last == nil ? .unknown : .over()
        return
      }
      session.standing = .known(last, invalidations: memory.invalidations)
    }
  }

  /// What the gate says of the request by the configuration and the account of now.
  private func admits(_ exchange: OpenExchange, _ entry: SessionCacheEntry) -> Bool {
    let credential = ExchangeCredential(number: exchange.credential)
    guard knowledge.keyring.knows(credential.key), knowledge.acceptsBearer || !credential.isBearer else { return false }
    var head = RequestHead()
    let bytes = exchange.head.readableBytesSpan
    guard Self.reviewParser.parse(bytes, into: &head) == .complete,
      knowledge.authorities.match(bytes.extracting(head.authority)._unsafeView(as: UInt8.self))
    else { return false }
    let path = head.isAsteriskForm || head.path.isEmpty ? nil : head.path
    guard let route = route(path, method: head.methodRange, bytes) else { return false }
    switch route.access {
    case .deny: return false
    case .public, .signedIn: return true
    case .rules(let rules):
      if case .denied = entry.verdict(of: rules, knowledge) { return false }
      return true
    }
  }

  /// The route that holds for an application's path; nil where the gateway refuses the path, or answers it itself.
  private func route(_ path: Range<Int>?, method: Range<Int>, _ bytes: RawSpan) -> RouteDecision? {
    let method = bytes.extracting(method)._unsafeView(as: UInt8.self)
    guard let path else {
      let root = Self.root
      return knowledge.routes.match(root.span, .canonical, method: method)
    }
    let text = bytes.extracting(path)._unsafeView(as: UInt8.self)
    let judgement = PathClassification.classify(text)
    if case .refused = judgement { return nil }
    return isOwnPath(bytes, path) ? nil : knowledge.routes.matchWithSessionParameter(text, judgement, method: method)
  }

  private static let reviewParser = RequestHeadParser(
    limits: HeadLimits(headBytes: 65_535, fieldCount: 8, targetBytes: 65_535))
}
