internal import FoundationEssentials
internal import NIOCore
internal import Sessions

extension LoopSessions {
  /// Looks up a machine token. It has no last use, no idle time-out and no revalidation.
  func find(machineToken text: MachineTokenValue) -> LookUp {
    let now = now
    let fingerprint = text.fingerprint(by: configuration.fingerprinter)
    if let known = cache.find(fingerprint) {
      switch known {
      case .session(let entry):
        if entry.isOfMachineToken, entry.serves(at: now), now < entry.endsAt {
          if storeHealth.isTrusted(at: now) {
            // No secret of the configuration signs a token.
            if entry.generation != configuration.generation {
              entry.render(configuration, isSignedByCurrentKey: true, key: configuration.keyring.currentKey)
            }
            return .known(entry)
          }
          // Kept, as the entry of a session is.
          if entry.notAsked.contains(now) { return .storeUnavailable }
        } else {
          cache.remove(fingerprint)
        }
      case .absent(let period): if period.contains(now) { return .none }
      case .storeUnavailable(let period): if period.contains(now) { return .storeUnavailable }
      }
    }
    switch tokens.verify(text) {
    case .foreign: return .none
    case .keyUnknown: return .storeUnavailable
    case .genuine(let handle):
      let (tokens, bound) = (tokens, NIOLoopBound(self, eventLoop: eventLoop))
      return .suspend { await tokens.load(handle, fingerprint, for: bound) }
    }
  }

  /// Looks up the token of an open exchange in the store, and passes the result to `take` on this loop.
  func load(
    machineToken handle: PublicSessionID, _ take: @escaping @Sendable (OpenLookUp<MachineToken>) -> Void
  ) {
    let (tokens, eventLoop) = (tokens, eventLoop)
    Task { await tokens.lookUp(handle, take, on: eventLoop) }
  }
}

extension SessionCacheEntry {
  /// The entry of a token, with an identity like that of a session.
  convenience init(_ token: MachineToken, _ configuration: SessionConfiguration) {
    self.init(
      SessionSnapshot(token), machineToken: token, isSignedByCurrentKey: true, key: configuration.keyring.currentKey,
      generation: configuration.generation, configuration)
  }
}

extension SessionSnapshot {
  /// The identity of a token in the form of a session: `token:NAME`, its group, its public name, and nothing else.
  init(_ token: MachineToken) {
    var access = AccountAccess()
    access.groups = [token.group]
    self.init(
      session: Session(
        handle: token.handle, subject: token.subject, clientID: "", began: token.created,
        ends: token.expires ?? .distantFuture, lastSeen: token.created),
      account: Account(
        subject: token.subject, name: nil, claims: AccountClaims(), latestAuthorization: token.created,
        lastVerified: token.created, lastAsked: nil, access: access))
  }
}
