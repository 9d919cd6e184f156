internal import NIOCore
internal import Sessions
internal import Synchronization

/// The result of looking up a session or machine token in the store, or in the cache of another loop.
enum StoreLookUp<Found: Sendable>: Sendable {
  case found(Found)
  case absent(during: Period)
  case storeUnavailable(during: Period)
}

/// The result of looking up the session or machine token of an open exchange.
enum OpenLookUp<Found> {
  case found(Found)
  case none
  case storeUnavailable
  /// All caches were emptied meanwhile: the result may be outdated.
  case outdated

  func map<Other>(_ transform: (Found) -> Other) -> OpenLookUp<Other> {
    switch self {
    case .found(let found): .found(transform(found))
    case .none: .none
    case .storeUnavailable: .storeUnavailable
    case .outdated: .outdated
    }
  }
}

extension OpenLookUp: Sendable where Found: Sendable {}

/// Coalesces concurrent look-ups of one session or machine token, so that a page with many requests costs one query to
/// the store.
final class SharedLookUps<Found: Sendable>: Sendable {
  private struct UnderWay: Sendable {
    let version: ProcessSessions.Version
    let task: Task<StoreLookUp<Found>, Never>
  }

  private let loops: ProcessSessions
  private let storeHealth: StoreHealth
  private let underWay = Mutex<[PublicSessionID: UnderWay]>([:])

  init(_ loops: ProcessSessions, _ storeHealth: StoreHealth) {
    self.loops = loops
    self.storeHealth = storeHealth
  }

  /// Passes the answer for an open exchange to `take` on its loop.
  func answer(
    for handle: PublicSessionID, on eventLoop: any EventLoop,
    _ lookUp: @escaping @Sendable () async -> StoreLookUp<Found>,
    _ take: @escaping @Sendable (OpenLookUp<Found>) -> Void
  ) async {
    let version = loops.version
    let answer = await answer(for: handle, version, lookUp)
    try? await eventLoop.submit { [loops] in
      guard !loops.isOutdated(version) else { return take(.outdated) }
      switch answer {
      case .found(let found): take(.found(found))
      case .absent: take(.none)
      case .storeUnavailable: take(.storeUnavailable)
      }
    }.get()
  }

  /// The answer of a look-up that is under way, or of a new one. A look-up from before a change of accounts, or before
  /// all caches were emptied, is not joined, because its answer may be outdated; nor is any while the store is known to
  /// be unavailable, because it may hang.
  /// - Parameter version: the present one.
  func answer(
    for handle: PublicSessionID, _ version: ProcessSessions.Version,
    _ lookUp: @escaping @Sendable () async -> StoreLookUp<Found>
  ) async -> StoreLookUp<Found> {
    if storeHealth.isUnavailable { return await lookUp() }
    let task = underWay.withLock { underWay in
      if let known = underWay[handle], known.version == version { return known.task }
      let task = Task {
        let answer = await lookUp()
        end(handle, version)
        return answer
      }
      underWay[handle] = UnderWay(version: version, task: task)
      return task
    }
    return await task.value
  }

  private func end(_ handle: PublicSessionID, _ version: ProcessSessions.Version) {
    underWay.withLock { underWay in
      // A newer look-up may have replaced it.
      if underWay[handle]?.version == version { underWay[handle] = nil }
    }
  }
}
