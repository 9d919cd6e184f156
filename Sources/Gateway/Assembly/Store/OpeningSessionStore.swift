internal import FoundationEssentials
internal import Sessions
internal import Synchronization

/// A session store that opens in the background: until it is open, every operation fails with
/// `StoreError.Code.unavailable`, like that of a store that is down. So the gateway can start, and serve public routes,
/// before its database is available.
///
/// Opening is retried indefinitely, except after permanent errors.
final class OpeningSessionStore: Sendable {
  /// A store that is open, with its key, which is read again when the change feed shows that it may be another one.
  struct Opened: Sendable {
    let store: any SessionStore
    var key: StoreKey
  }

  /// One attempt to open the store. It throws an error of a type other than `StoreError` to prevent further attempts.
  typealias Attempt = @Sendable () async throws -> Opened

  private enum State {
    case opening(latest: StoreError?)
    case open(Opened)
    /// Opening failed permanently.
    case failed(any Error)
    case closed
  }

  private struct Shared {
    var state = State.opening(latest: nil)
    var attempts: Task<Void, Never>?
    /// Whether the store was an unfinished copy when the change feed was last read: copying replaces its key.
    var isCopying = false
    /// The tasks that wait for the end of the state `opening`.
    var waiting: [AsyncStream<Void>.Continuation] = []

    mutating func release() {
      for continuation in waiting { continuation.finish() }
      waiting = []
      attempts = nil
    }
  }

  private let shared = Mutex(Shared())
  private let attempt: Attempt
  private let isFinal: @Sendable (StoreError) -> Bool
  private let onRetry: @Sendable (StoreError) -> Void

  private static let shortestPause = Duration.milliseconds(200)
  /// The longest pause between attempts: short, so that a recovered database is used soon.
  private static let longestPause = Duration.seconds(2)

  /// Begins to open the store.
  /// - Parameters:
  ///   - attempt: opens it, or fails.
  ///   - isFinal: whether an error is permanent.
  ///   - onRetry: called with each error after which opening is retried.
  init(
    isFinal: @escaping @Sendable (StoreError) -> Bool, onRetry: @escaping @Sendable (StoreError) -> Void,
    attempt: @escaping Attempt
  ) {
    self.attempt = attempt
    self.isFinal = isFinal
    self.onRetry = onRetry
    // Not awaited: an attempt may take as long as the timeout of a hanging server.
    let attempts = Task { await run() }
    shared.withLock { $0.attempts = attempts }
  }

  /// Waits until the store is open.
  /// - Parameter limit: the longest wait; nil waits without end.
  /// - Returns: whether it is open; false when the time is over, the task is cancelled, or the store was closed.
  /// - Throws: the permanent error.
  func waitUntilOpen(atMost limit: Duration? = nil) async throws -> Bool {
    let (settled, continuation) = AsyncStream<Void>.makeStream()
    shared.withLock { shared in
      if case .opening = shared.state { shared.waiting.append(continuation) } else { continuation.finish() }
    }
    let timer = limit.map { limit in
      Task {
        try? await Task.sleep(for: limit)
        continuation.finish()
      }
    }
    defer { timer?.cancel() }
    for await _ in settled {}
    return try shared.withLock { shared in
      switch shared.state {
      case .open: true
      case .opening, .closed: false
      case .failed(let error): throw error
      }
    }
  }

  /// The random key of the store; nil until the store is open.
  var key: StoreKey? { shared.withLock { if case .open(let opened) = $0.state { opened.key } else { nil } } }

  private func run() async {
    var pause = Self.shortestPause
    while !Task.isCancelled {
      do {
        return await settle(.open(try await attempt()))
      } catch let error as StoreError where !isFinal(error) {
        let isOpening = shared.withLock { shared in
          guard case .opening = shared.state else { return false }
          shared.state = .opening(latest: error)
          return true
        }
        // Otherwise it was closed meanwhile.
        guard isOpening else { return }
        onRetry(error)
      } catch {
        return await settle(.failed(error))
      }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
    }
  }

  /// Ends the state `opening`, unless the store was closed meanwhile.
  private func settle(_ state: State) async {
    let isLate = shared.withLock { shared in
      guard case .opening = shared.state else { return true }
      shared.state = state
      shared.release()
      return false
    }
    if isLate, case .open(let opened) = state { try? await opened.store.close() }
  }

  /// The store, if it is open.
  func opened() throws(StoreError) -> any SessionStore {
    let state = shared.withLock { $0.state }
    switch state {
    case .open(let opened): return opened.store
    case .opening(let latest):
      throw latest ?? StoreError(code: .unavailable, message: "the session store has not answered since the start")
    case .failed:
      throw StoreError(code: .unavailable, message: "the session store cannot be opened; cordon ends because of it")
    case .closed:
      throw StoreError(code: .closed, message: "the session store is closed: cordon is stopping")
    }
  }
}

extension OpeningSessionStore: SessionStore {
  var place: String { (try? opened())?.place ?? "not open yet" }
  var isNew: Bool { (try? opened())?.isNew ?? false }
  var logBytes: Int? { (try? opened())?.logBytes }

  func close() async throws(StoreError) {
    let open = shared.withLock { shared -> Opened? in
      shared.attempts?.cancel()
      defer {
        shared.state = .closed
        shared.release()
      }
      return if case .open(let opened) = shared.state { opened } else { nil }
    }
    try await open?.store.close()
  }

  func waitForChanges(atMost limit: Duration) async {
    if (try? await waitUntilOpen(atMost: limit)) == true, let store = try? opened() {
      await store.waitForChanges(atMost: limit)
    } else {
      // It is closed, or failed permanently.
      try? await Task.sleep(for: limit)
    }
  }

  func lookForChanges(_ answer: @escaping @Sendable (_ mayHaveChanged: Bool) -> Void) {
    guard let store = try? opened() else { return answer(true) }
    store.lookForChanges(answer)
  }

  func changes(since cursor: ChangeCursor?, limit: Int) async throws(StoreError) -> StoreChanges {
    let store = try opened()
    do throws(StoreError) {
      let batch = try await store.changes(since: cursor, limit: limit)
      // Before the batch is applied: if the key cannot be read, the same cursor is asked about again.
      if batch.gap.isRollback || shared.withLock({ $0.isCopying }) { try await readKey(of: store) }
      return batch
    } catch {
      if error.code == .unfinishedCopy { shared.withLock { $0.isCopying = true } }
      throw error
    }
  }

  /// Reads the key of a store that may be another one than before, for the machine tokens made from now on and those
  /// that the store has.
  private func readKey(of store: any SessionStore) async throws(StoreError) {
    let key = try await store.storeKey()
    shared.withLock { shared in
      shared.isCopying = false
      guard case .open(var opened) = shared.state else { return }
      opened.key = key
      shared.state = .open(opened)
    }
  }

  func removeExpired(_ rule: RemovalRule) async throws(StoreError) -> Removal {
    try await opened().removeExpired(rule)
  }

  func counts() async throws(StoreError) -> StoreCounts { try await opened().counts() }

  func ping() async throws(StoreError) { try await opened().ping() }

  func latestUse() async throws(StoreError) -> Date? { try await opened().latestUse() }
}

extension OpeningSessionStore.Opened {
  /// Checks a store that was just opened, and closes it if it cannot be used.
  /// - Throws: `KeyringError` if a refresh token of the store would be lost; `StoreError`.
  init(_ store: any SessionStore, _ keys: GatewayKeys) async throws {
    do {
      try await keys.requireEveryKey(of: store)
      self.init(store: store, key: try await store.storeKey())
    } catch {
      try? await store.close()
      throw error
    }
  }
}
