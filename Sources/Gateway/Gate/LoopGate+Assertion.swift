internal import DataPlane
internal import NIOCore
internal import Sessions

/// The signed assertion of a session: it is made off the loop, and requests carry what is there.
extension LoopGate {
  /// Sees to it that the entry has an assertion that may be sent.
  /// - Returns: what to wait for first, where there is none that may be; nil where the request can go.
  @inline(__always)
  func renewAssertion(of entry: SessionCacheEntry) -> (@Sendable () async -> Void)? {
    guard let assertions = knowledge.assertions else { return nil }
    let now = WallClock.now()
    if now < entry.assertionRenewsAt { return nil }
    return renewAssertion(of: entry, by: assertions, now)
  }

  private func renewAssertion(
    of entry: SessionCacheEntry, by assertions: SessionAssertions, _ now: Int64
  ) -> (@Sendable () async -> Void)? {
    let (snapshot, generation) = (entry.snapshot, knowledge.generation)
    let bound = NIOLoopBound(entry, eventLoop: eventLoop)
    let signing: @Sendable () async -> Void = {
      let signed = await assertions.assertion(of: snapshot)
      try? await bound.eventLoop.submit { bound.value.take(signed, by: generation, now: WallClock.now()) }.get()
    }
    guard now < entry.assertionEndsAt else { return signing }
    // The present one is good for a while yet: one request has it made anew, and none waits.
    entry.assertionRenewsAt = now + Self.signingPatience
    Task { await signing() }
    return nil
  }

  /// How long a signature that is being made is waited for before it is asked for again.
  private static let signingPatience: Int64 = 10_000
}
