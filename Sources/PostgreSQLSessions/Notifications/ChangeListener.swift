import Glibc
import Sessions
import Synchronization

/// Receives notifications of changes by `LISTEN`, on a thread and a connection of its own, and posts the change signal.
/// Without a connection, or if the server does not support `LISTEN`, there are no signals, and followers poll.
///
/// Gives way to the pool: a connection that only listens is worth nothing where the server has none left for the store.
final class ChangeListener: Sendable {
  private let address: ServerAddress
  private let pool: ConnectionPool
  private let limits: TimeLimits
  private let changeSignal: ChangeSignal
  private let isStopped = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)
  private let shared = Mutex(Shared())

  private struct Shared {
    var notices = ListenerNotices()
    var report: (@Sendable (ChangeDelivery) -> Void)?
    /// The notice that is still true, from before there was a report.
    var pending: ChangeDelivery?
  }

  /// The interval at which the thread checks whether it is to end, in milliseconds.
  private static let pollInterval: Int32 = 250
  private static let shortestPause: Int32 = 250
  private static let longestPause: Int32 = 10_000
  private static let longestStop = Duration.seconds(1)

  private init(_ pool: ConnectionPool, limits: TimeLimits, changeSignal: ChangeSignal) {
    address = pool.address
    self.pool = pool
    self.limits = limits
    self.changeSignal = changeSignal
  }

  /// - Parameter pool: the connections of the same store.
  static func start(
    beside pool: ConnectionPool, limits: TimeLimits, changeSignal: ChangeSignal
  ) throws(StoreError) -> ChangeListener {
    let listener = ChangeListener(pool, limits: limits, changeSignal: changeSignal)
    try StoreThread.start(named: "cordon-changes") {
      listener.listen()
      listener.hasEnded.store(true, ordering: .releasing)
    }
    return listener
  }

  /// Has `report` called when changes come to be polled, and when they are announced again.
  func onChangeDelivery(_ report: @escaping @Sendable (ChangeDelivery) -> Void) {
    let pending = shared.withLock { shared in
      shared.report = report
      defer { shared.pending = nil }
      return shared.pending
    }
    if let pending { report(pending) }
  }

  private func note(_ event: (inout ListenerNotices) -> ChangeDelivery?) {
    let (notice, report) = shared.withLock { shared in
      let notice = event(&shared.notices)
      if shared.report == nil, let notice { shared.pending = notice == .announced ? nil : notice }
      return (notice, shared.report)
    }
    if let notice { report?(notice) }
  }

  /// Stops the thread. Returns when its connection has ended, because libpq must not run while OpenSSL cleans up at the
  /// end of the process. Does not wait for a server that does not answer.
  func stop() async {
    isStopped.store(true, ordering: .relaxed)
    let deadline = ContinuousClock.now + Self.longestStop
    while !hasEnded.load(ordering: .acquiring), ContinuousClock.now < deadline {
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  private func listen() {
    var pause = Self.shortestPause
    while !isStopped.load(ordering: .relaxed) {
      do {
        try giveWay()
        let expires = ContinuousClock.now + limits.connectionLifetime * TimeLimits.jitter()
        let connection = try Connection(address, limits: limits)
        try connection.run("LISTEN cordon_changes")
        pause = Self.shortestPause
        note { $0.listens() }
        // Notifications may have been missed while nobody listened.
        changeSignal.post()
        while !isStopped.load(ordering: .relaxed), ContinuousClock.now < expires {
          if try connection.awaitNotification(milliseconds: Self.pollInterval) { changeSignal.post() }
          try giveWay()
        }
      } catch {
        let failure = StoreError.cannotListen(error, at: address)
        note { $0.failed(failure) }
        sleep(pause)
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }

  /// - Throws: the pool's error while the server has no connection left for it.
  private func giveWay() throws { if let shortage = pool.shortage { throw shortage } }

  private func sleep(_ milliseconds: Int32) {
    var left = milliseconds
    while left > 0, !isStopped.load(ordering: .relaxed) {
      _ = poll(nil, 0, min(left, Self.pollInterval))
      left -= Self.pollInterval
    }
  }
}
