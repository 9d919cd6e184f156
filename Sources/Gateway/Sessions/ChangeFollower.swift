internal import DataPlane
internal import Sessions

/// Follows the store's change feed: sessions that ended, and accounts that changed, in another process.
struct ChangeFollower: Sendable {
  private let store: any StoreChangeFeed & SessionRecordStore & MachineTokenStore
  private let sessions: SessionManager
  private let loops: SessionLoops
  private let storeHealth: StoreHealth

  private static let batchSize = 1_000
  /// Milliseconds for which a store that says that nothing has changed is not asked. Its answers are also what the
  /// outage grace counts from, so with a grace shorter than twice this it is always asked.
  private static let longestSilence: Int64 = 4_500

  init(
    store: any StoreChangeFeed & SessionRecordStore & MachineTokenStore, sessions: SessionManager, loops: SessionLoops,
    storeHealth: StoreHealth
  ) {
    self.store = store
    self.sessions = sessions
    self.loops = loops
    self.storeHealth = storeHealth
  }

  /// Whether the store is to be asked: unless it is well, has answered lately, and says that nothing has changed.
  var isDue: Bool {
    storeHealth.mustAsk(at: sessions.clock(), after: Self.longestSilence) || store.mayHaveChanged
  }

  /// Applies everything that changed since a cursor.
  /// - Returns: the cursor to go on from; the old one if the store did not answer.
  func follow(_ cursor: ChangeCursor?) async -> ChangeCursor? {
    var cursor = cursor
    do throws(StoreError) {
      while true {
        let asked = sessions.clock()
        let news = try await store.changes(since: cursor, limit: Self.batchSize)
        storeHealth.feedAnswered(at: asked)
        if news.isIncomplete { try await reloadEverything() }
        var ended: [PublicSessionID] = []
        for change in news.changes {
          switch change {
          case .ended(let handle, _): ended.append(handle)
          case .accountChanged(let subject): await sessions.forget(subject)
          }
        }
        await sessions.forget(ended)
        cursor = news.cursor
        // A full batch: there are more, and two seconds for all of them.
        if news.changes.count < Self.batchSize { return cursor }
      }
    } catch {
      storeHealth.didNotAnswer("changes", error)
      // Whether sessions are still valid cannot be known any more.
      if error.code == .newerSchema { await loops.endExchanges(of: await loops.sessionsUnderWay()) }
      return cursor
    }
  }

  /// Empties every cache, and asks the store about each session and machine token that has an exchange under way: too
  /// much has changed to be listed change by change.
  private func reloadEverything() async throws(StoreError) {
    await loops.removeAll()
    var ended: Set<ConnectionKey> = []
    for key in await loops.sessionsUnderWay() {
      let handle = PublicSessionID(key)
      let isKnown = if try await store.find(handle) == nil { try await store.token(handle) != nil } else { true }
      if !isKnown { ended.insert(key) }
    }
    await loops.endExchanges(of: ended)
  }
}
