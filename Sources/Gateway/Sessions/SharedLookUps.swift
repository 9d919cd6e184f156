internal import Sessions
internal import Synchronization

/// Coalesces concurrent look-ups of one session or machine token, so that a page with many requests costs one query to
/// the store.
final class SharedLookUps<Answer: Sendable>: Sendable {
  private struct LookUp: Sendable {
    let version: SessionLoops.Version
    let task: Task<Answer, Never>
  }

  private let storeHealth: StoreHealth
  private let underWay = Mutex<[PublicSessionID: LookUp]>([:])

  init(_ storeHealth: StoreHealth) { self.storeHealth = storeHealth }

  /// The answer of a look-up that is under way, or of a new one. A look-up from before a change of accounts, or before
  /// all caches were emptied, is not joined, because its answer may be outdated; nor is any while the store is known to
  /// be unavailable, because it may hang.
  /// - Parameter version: the present one.
  func answer(
    for handle: PublicSessionID, _ version: SessionLoops.Version, _ lookUp: @escaping @Sendable () async -> Answer
  ) async -> Answer {
    if storeHealth.isUnavailable { return await lookUp() }
    let task = underWay.withLock { underWay in
      if let known = underWay[handle], known.version == version { return known.task }
      let task = Task {
        let answer = await lookUp()
        end(handle, version)
        return answer
      }
      underWay[handle] = LookUp(version: version, task: task)
      return task
    }
    return await task.value
  }

  private func end(_ handle: PublicSessionID, _ version: SessionLoops.Version) {
    underWay.withLock { underWay in
      // A newer look-up may have replaced it.
      if underWay[handle]?.version == version { underWay[handle] = nil }
    }
  }
}
