internal import Sessions
internal import Synchronization

/// Combines look-ups of one session or machine token that are under way at the same time, so that a page with many
/// requests costs one question to the store.
final class SharedLookUps<Answer: Sendable>: Sendable {
  private struct LookUp: Sendable {
    let version: SessionLoops.Version
    let task: Task<Answer, Never>
  }

  private let storeHealth: StoreHealth
  private let underWay = Mutex<[PublicSessionID: LookUp]>([:])

  init(_ storeHealth: StoreHealth) { self.storeHealth = storeHealth }

  /// The answer of a look-up that is under way, or of a new one. Not joined is a look-up from before a change of
  /// accounts, or before all caches were emptied, because its answer may be outdated; nor any while the store is known
  /// not to answer, because it may be waiting for it.
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
      // A newer look-up may have taken its place.
      if underWay[handle]?.version == version { underWay[handle] = nil }
    }
  }
}
