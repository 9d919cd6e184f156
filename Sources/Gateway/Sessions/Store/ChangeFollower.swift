internal import DataPlane
internal import Sessions

/// Follows the store's change feed: sessions that ended, and accounts that changed, in another process.
struct ChangeFollower: Sendable {
  private let store: any StoreChangeFeed & SessionRecordStore & MachineTokenStore
  private let sessions: SessionManager
  private let loops: ProcessSessions
  private let storeHealth: StoreHealth
  private let continuity: FeedContinuity

  private static let batchSize = 1_000
  /// The longest time without a query to a store that reports no changes, in milliseconds. The outage grace counts from
  /// the last answer, so with a grace shorter than twice this time the store is always asked.
  private static let longestPollInterval: Int64 = 4_500

  init(
    store: any StoreChangeFeed & SessionRecordStore & MachineTokenStore, sessions: SessionManager,
    loops: ProcessSessions,
    storeHealth: StoreHealth, continuity: FeedContinuity = FeedContinuity()
  ) {
    self.store = store
    self.sessions = sessions
    self.loops = loops
    self.storeHealth = storeHealth
    self.continuity = continuity
  }

  /// Whether the store is to be asked even if it reports no changes: unless it is healthy and has answered recently.
  var isDue: Bool { storeHealth.mustAsk(at: sessions.clock(), after: Self.longestPollInterval) }

  /// Looks whether the store reports changes. One that hangs takes a while to say so.
  func look(_ answer: @escaping @Sendable (_ mayHaveChanged: Bool) -> Void) { store.lookForChanges(answer) }

  /// Applies everything that changed since a cursor.
  /// - Parameter cursor: nil where the feed was not read yet: what was cached before its first answer may have changed
  ///   before that, and is forgotten.
  /// - Returns: the cursor to go on from; the old one if the store did not answer.
  func follow(_ cursor: ChangeCursor?) async -> ChangeCursor? {
    var cursor = cursor
    var mustReload = cursor == nil || continuity.isBroken
    do throws(StoreError) {
      while true {
        let (asked, steady) = (sessions.clock(), continuity.now())
        let batch = try await store.changes(since: cursor, limit: Self.batchSize)
        let arrival = sessions.clock()
        if batch.isIncomplete || mustReload { try await reloadEverything() }
        // Once: after a failed reload the cursor stays, and the gap is found again.
        if batch.gap.isRollback { storeHealth.foundRollback(batch.gap) }
        mustReload = false
        var ended: [PublicSessionID] = []
        for change in batch.changes {
          switch change {
          case .ended(let handle, _): ended.append(handle)
          case .accountChanged(let subject): await sessions.markStale(subject)
          case .signedIn: break
          }
        }
        await sessions.endInProcess(ended)
        cursor = batch.cursor
        continuity.answered(asked: steady)
        // After a full batch there may be more, all of which must be applied within two seconds.
        let mayHaveMore = batch.changes.count >= Self.batchSize || batch.isIncomplete && !batch.changes.isEmpty
        // After an outage caches are not trusted again before everything that was missed has been applied. While they
        // are trusted, each batch renews that: a feed that is always busy may never have an end.
        if !mayHaveMore || storeHealth.trustsFeed(at: arrival) {
          storeHealth.feedAnswered(at: arrival, asked: asked)
        }
        // The store is closed soon after this was cancelled.
        if !mayHaveMore || Task.isCancelled { return cursor }
      }
    } catch {
      storeHealth.feedDidNotAnswer(error)
      // It is no longer known whether sessions are valid.
      if error.code == .newerSchema {
        await loops.endExchanges(of: await loops.sessionsUnderWay(), for: .unverifiable)
      }
      return cursor
    }
  }

  /// Empties every cache, and asks the store about each session and machine token that has an exchange under way,
  /// because changes may have been missed.
  private func reloadEverything() async throws(StoreError) {
    await loops.removeAll()
    for (ending, keys) in try await endings(of: await loops.sessionsUnderWay()) {
      await loops.endExchanges(of: keys, for: ending)
    }
  }

  /// Asks the store about sessions and machine tokens, and returns those whose exchanges must end.
  func endings(of keys: Set<ConnectionKey>) async throws(StoreError) -> [ExchangeEnding: Set<ConnectionKey>] {
    var endings: [ExchangeEnding: Set<ConnectionKey>] = [:]
    for key in keys {
      do throws(StoreError) {
        if try await !isKnown(PublicSessionID(key)) { endings[.signInRequired, default: []].insert(key) }
      } catch {
        // The damaged record of one user must not keep everybody's changes from being followed.
        guard error.code == .damagedRow else { throw error }
        storeHealth.failed("find", error)
        endings[.unverifiable, default: []].insert(key)
      }
    }
    return endings
  }

  /// Whether the store has a session or a machine token with this handle.
  private func isKnown(_ handle: PublicSessionID) async throws(StoreError) -> Bool {
    if try await store.find(handle) != nil { return true }
    return try await store.token(handle) != nil
  }
}
