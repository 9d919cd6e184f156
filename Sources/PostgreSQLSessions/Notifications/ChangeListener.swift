import Glibc
import Sessions
import Synchronization

/// Hears of changes by `LISTEN`, on a thread and a connection of its own, and posts the news. As long as there is no
/// connection, or the server knows no `LISTEN`, there are no signals, and followers poll anyway.
final class ChangeListener: Sendable {
  private let address: ServerAddress
  private let limits: TimeLimits
  private let news: ChangeSignal
  private let isStopped = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)

  /// The interval at which the thread checks whether it is to end, in milliseconds.
  private static let glance: Int32 = 250
  private static let shortestPause: Int32 = 250
  private static let longestPause: Int32 = 10_000
  private static let longestStop = Duration.seconds(1)

  private init(_ address: ServerAddress, limits: TimeLimits, news: ChangeSignal) {
    self.address = address
    self.limits = limits
    self.news = news
  }

  static func start(
    _ address: ServerAddress, limits: TimeLimits, news: ChangeSignal
  ) throws(StoreError) -> ChangeListener {
    let listener = ChangeListener(address, limits: limits, news: news)
    try DedicatedThread.start {
      listener.listen()
      listener.hasEnded.store(true, ordering: .releasing)
    }
    return listener
  }

  /// Returns when the connection has ended, so that the process can end: libpq must not run while OpenSSL cleans up.
  /// Does not wait for a server that does not answer.
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
        let connection = try Connection(address, limits: limits)
        try connection.run("LISTEN cordon_changes")
        pause = Self.shortestPause
        // Notifications may have been missed while nobody listened.
        news.post()
        while !isStopped.load(ordering: .relaxed) {
          if try connection.awaitNotification(milliseconds: Self.glance) { news.post() }
        }
      } catch {
        // The store's own operations tell of the trouble.
        rest(pause)
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }

  private func rest(_ milliseconds: Int32) {
    var left = milliseconds
    while left > 0, !isStopped.load(ordering: .relaxed) {
      _ = poll(nil, 0, min(left, Self.glance))
      left -= Self.glance
    }
  }
}
