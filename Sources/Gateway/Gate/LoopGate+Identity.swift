internal import DataPlane
internal import FoundationEssentials
internal import HTTPWire
internal import NIOCore
internal import Sessions

/// Who is asking: from the cookies of a head to a session of this loop's memory.
extension LoopGate {
  /// What the cookies of a request say.
  enum Identification {
    case known(SessionCacheEntry)
    /// Nobody, or nobody any more.
    case nobody
    /// The store has to be asked, and cannot be.
    case storeAway
    /// Something has to be asked first.
    case ask(@Sendable () async -> Void)
  }

  /// Looks at the bearer token of the request if it has one of ours, which then counts alone, as nobody sends one
  /// unasked; otherwise at each session cookie: the first that stands counts, whatever stands before it.
  /// - Parameter waitsForCheck: whether an overdue daily check is waited for; otherwise such a user is nobody.
  @inline(__always)
  func identify(_ head: borrowing RequestHead, _ bytes: RawSpan, waitsForCheck: Bool = true) -> Identification {
    if head.fields.has(.authorization), let token = ownToken(head, bytes) {
      carriesOurToken = true
      if knowledge.acceptsBearer { return look(bytes.extracting(token), waitsForCheck) }
    }
    var result = Identification.nobody
    for place in head.ownCookies
    where place.value.count == SessionCookie.valueLength && bytes.equals("__Host-cordon", place.name) {
      switch look(bytes.extracting(place.value), waitsForCheck) {
      case .nobody: continue
      case .known(let entry): return .known(entry)
      case .ask(let work): return .ask(work)
      case .storeAway: result = .storeAway
      }
    }
    return result
  }

  /// Where a bearer token stands that we have signed, whether its session still stands or not.
  private func ownToken(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Range<Int>? {
    for line in head.fields.lines where line.known == .authorization {
      guard let place = BearerToken.find(bytes, line.value) else { continue }
      let token = bytes.extracting(place)
      let fingerprint = token.withUnsafeBytes { knowledge.fingerprinter.fingerprint($0) }
      if memory.find(fingerprint) != nil || knowledge.keyring.verifyCookie(token) != nil { return place }
    }
    return nil
  }

  private func look(_ cookie: RawSpan, _ waitsForCheck: Bool) -> Identification {
    let now = directory.clock()
    let fingerprint = cookie.withUnsafeBytes { knowledge.fingerprinter.fingerprint($0) }
    if let known = memory.find(fingerprint) {
      switch known {
      case .session(let entry):
        if entry.serves(at: now), now < entry.endsAt, now < entry.lastSeen &+ knowledge.idleTimeout,
          directory.isTrusted(at: now)
        {
          if entry.generation != knowledge.generation, !renew(entry, cookie) {
            memory.remove(fingerprint)
            return .nobody
          }
          return remember(entry, fingerprint, now, waitsForCheck)
        }
        // Another loop, or another replica, may know better. What is stale is kept: it serves if the store cannot be
        // asked.
        if case .stale = entry.standing {} else { memory.remove(fingerprint) }
      case .absent(let until): if now < until { return .nobody }
      case .storeAway(let until): if now < until { return .storeAway }
      }
    }
    guard let verified = knowledge.keyring.verifyCookie(cookie) else { return .nobody }
    let proof = SessionCredential(
      handle: verified.identifier.handle, fingerprint: fingerprint, isSignedByFirstKey: verified.isSignedByFirstKey,
      key: verified.key, generation: knowledge.generation)
    let (directory, gate) = (directory, NIOLoopBound(self, eventLoop: eventLoop))
    return .ask { await directory.load(proof, for: gate) }
  }

  /// After a reload: the header lines are rendered anew, and the cookie has to be good under the secrets of now. A
  /// cookie whose secret was taken away is worth nothing, whatever is remembered of it.
  private func renew(_ entry: SessionCacheEntry, _ cookie: RawSpan) -> Bool {
    guard let verified = knowledge.keyring.verifyCookie(cookie),
      verified.identifier.handle == entry.snapshot.session.handle
    else { return false }
    entry.render(knowledge, isSignedByFirstKey: verified.isSignedByFirstKey, key: verified.key)
    return true
  }

  @inline(__always)
  private func remember(
    _ entry: SessionCacheEntry, _ fingerprint: CookieFingerprint, _ now: Int64, _ waitsForCheck: Bool
  ) -> Identification {
    entry.lastSeen = now
    if !entry.isNoted || isUrgent(entry, now) { note(entry, now) }
    if now >= entry.evaluateAt { return evaluate(entry, fingerprint, now, waitsForCheck) }
    return .known(entry)
  }

  /// Whether the store's record of the last use is so old that another replica would soon take the session for idle.
  @inline(__always)
  func isUrgent(_ entry: SessionCacheEntry, _ now: Int64) -> Bool {
    now >= entry.lastWritten &+ knowledge.idleTimeout / 2
  }

  /// Has the session's last use written down with the next batch, or at once where that is urgent.
  func note(_ entry: SessionCacheEntry, _ now: Int64) {
    if !entry.isNoted { seen.append(entry) }
    entry.isNoted = true
    if isUrgent(entry, now) { directory.writeSightingsSoon() }
  }

  /// Hands on when the sessions that this loop has seen were last used.
  func takeSightings() -> [LastSeenUpdate] {
    defer { seen = [] }
    return seen.compactMap { entry in
      entry.isNoted = false
      guard entry.lastSeen > entry.lastWritten else { return nil }
      entry.lastWritten = entry.lastSeen
      return LastSeenUpdate(handle: entry.snapshot.session.handle, seen: Date(wallClock: entry.lastSeen))
    }
  }

  /// Thinks of the daily check (`RevalidationSchedule`), twice a minute at most for one session.
  private func evaluate(
    _ entry: SessionCacheEntry, _ fingerprint: CookieFingerprint, _ now: Int64, _ waitsForCheck: Bool
  ) -> Identification {
    let snapshot = entry.snapshot
    switch knowledge.schedule.decision(account: snapshot.account, now: Date(wallClock: now)) {
    case .fresh: entry.evaluateAt = now + GateConfiguration.evaluationInterval
    case .background:
      entry.evaluateAt = now + GateConfiguration.evaluationInterval
      directory.checkBeside(snapshot)
    case .blocking:
      if now < entry.waitedUntil {
        // Waited for already. Where no attempt failed the limit was ours (`SessionManager.checkAndReload`); else only
        // Apple's word by another sign-in will do.
        let mayGoOn = knowledge.schedule.mayGoOn(account: snapshot.account, now: Date(wallClock: now))
        return mayGoOn ? .known(entry) : .nobody
      }
      guard waitsForCheck else { return .nobody }
      let proof = SessionCredential(
        handle: snapshot.session.handle, fingerprint: fingerprint, isSignedByFirstKey: entry.isSignedByFirstKey,
        key: entry.key, generation: entry.generation)
      let (directory, gate) = (directory, NIOLoopBound(self, eventLoop: eventLoop))
      return .ask { await directory.checkAndReload(snapshot, proof, for: gate) }
    }
    return .known(entry)
  }
}
