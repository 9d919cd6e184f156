import Sessions
import Synchronization

/// Notifies other gateways of changes, by `NOTIFY`.
///
/// After the transaction, not in it: a transaction that notifies commits behind a lock of the whole server. Any number
/// of changes within a moment are one notification; it says only that there is something to read. If it fails, the
/// others see the changes when they next poll.
final class Notifier: Sendable {
  private let pool: ConnectionPool
  private let isUnderWay = Atomic<Bool>(false)

  init(_ pool: ConnectionPool) { self.pool = pool }

  func notify() {
    guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Task {
      do {
        _ = try await pool.run(isRetryable: true) { [self] connection in
          // A commit from here on needs another one.
          isUnderWay.store(false, ordering: .releasing)
          return try connection.run("SELECT pg_notify('cordon_changes', '')").affected
        }
      } catch {
        // The store's own operations report the failure.
        isUnderWay.store(false, ordering: .releasing)
      }
    }
  }
}
