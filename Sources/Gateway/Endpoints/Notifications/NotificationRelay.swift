internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Sessions
internal import Synchronization

/// Forwards notifications to the application: signed, one at a time, with retries until they are accepted.
///
/// They are queued in the store, so a restart loses none. A notification may be delivered twice if the process ends
/// during delivery: the application recognizes repetitions by `jti`.
final class NotificationRelay: Sendable {
  private let store: any NotificationStore
  private let storeHealth: StoreHealth
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let route = Mutex<Route?>(nil)
  private let wakeUps: AsyncStream<Void>
  private let waker: AsyncStream<Void>.Continuation

  /// The lease of a message: if the process has ended, another replica takes the message after it.
  /// Longer than the application may take.
  private static let lease: TimeInterval = 30
  /// The time after which an undelivered message is dropped.
  private static let retention: TimeInterval = 7 * 86_400

  init(store: any NotificationStore, storeHealth: StoreHealth, metrics: MetricsRegistry, logger: Logger) {
    self.store = store
    self.storeHealth = storeHealth
    self.metrics = metrics
    self.logger = logger
    (wakeUps, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Uses another route from now on; nil: messages wait in the store.
  func apply(_ next: Route?) { route.withLock { $0 = next } }

  /// Whether notifications are forwarded.
  var isOn: Bool { route.withLock { $0 != nil } }

  /// Wakes the relay: there may be a message. Nothing happens while notifications are not forwarded.
  func wake() { if isOn { waker.yield() } }

  /// Forwards messages at each `wake`, until cancelled. Messages that another replica left are found if it is woken
  /// every few seconds.
  func run() async {
    for await _ in wakeUps { await deliverAll() }
  }

  private func deliverAll() async {
    while !Task.isCancelled, let route = route.withLock({ $0 }) {
      do throws(StoreError) {
        let now = Date.now
        guard
          let next = try await store.nextMessage(leasedUntil: now.addingTimeInterval(Self.lease), at: now)
        else { return }
        switch next {
        case .readable(let message): try await deliver(message, by: route, now)
        case .damaged(let damage): note(damage)
        }
      } catch {
        storeHealth.failed("relay", error)
        return
      }
    }
  }

  /// Logs a message that the store has set aside: once a day.
  private func note(_ damage: DamagedRecord) {
    metrics.relays.count("failed")
    logger.error(
      "notification in the queue is damaged, delivering the others",
      metadata: [
        "jti": "\(damage.name ?? "unreadable")", "reason": "unreadable \(damage.what)",
        "remedy": "repair or delete it in the table messages of the store, or restore the store from a backup",
      ])
  }

  private func deliver(_ message: OutgoingMessage, by route: Route, _ now: Date) async throws(StoreError) {
    guard let notification = RelayedNotification(text: message.text) else {
      metrics.relays.count("given_up")
      logger.error(
        "dropping notification queued in an unknown format",
        metadata: ["jti": "\(message.identifier)"])
      return try await store.discard(message)
    }
    guard let failure = await route.post(notification, now) else {
      metrics.relays.count("delivered")
      return try await store.discard(message)
    }
    guard now < message.queued.addingTimeInterval(Self.retention) else {
      metrics.relays.count("given_up")
      logger.error(
        "dropping notification after 7 days of failed deliveries",
        metadata: ["to": "\(route.endpoint)", "jti": "\(message.identifier)", "reason": "\(failure)"])
      return try await store.discard(message)
    }
    metrics.relays.count("failed")
    let pause = Self.pause(after: message.attempts)
    logger.warning(
      "notification delivery failed, retrying",
      metadata: [
        "to": "\(route.endpoint)", "jti": "\(message.identifier)", "reason": "\(failure)",
        "attempt": "\(message.attempts)", "seconds": "\(Int(pause))",
      ])
    try await store.postpone(message, until: Date.now.addingTimeInterval(pause))
  }

  /// Doubles from two seconds to an hour.
  private static func pause(after attempts: Int) -> TimeInterval {
    min(3_600, TimeInterval(1 << min(max(attempts, 1), 12)))
  }
}
