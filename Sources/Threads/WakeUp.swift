internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Lets a thread sleep until another one wakes it. It takes no timer and no descriptor, and no thread of a pool.
///
/// A call of ``ring()`` while the thread is awake is kept: its next sleep ends at once. Several calls are one.
package final class WakeUp: Sendable {
  nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  nonisolated(unsafe) private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Whether the next sleep ends at once, or one that has begun is to end. Used with the mutex locked only.
  nonisolated(unsafe) private var hasRung = false

  /// The longest sleep with an end, about thirty years: times beyond it could not be added to the present one.
  private static let longestSleep = Duration.seconds(1_000_000_000)

  /// Creates one that has not rung.
  package init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // By default a sleep ends by the time of day, which may be set back.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Ends the sleep of the thread, or its next one.
  package func ring() {
    pthread_mutex_lock(mutex)
    hasRung = true
    pthread_mutex_unlock(mutex)
    // Not before: the thread would wake up only to wait for the mutex.
    pthread_cond_signal(condition)
  }

  /// Blocks the thread until ``ring()`` is called, however long.
  package func wait() {
    pthread_mutex_lock(mutex)
    while !hasRung { pthread_cond_wait(condition, mutex) }
    hasRung = false
    pthread_mutex_unlock(mutex)
  }

  /// Blocks the thread until ``ring()`` is called, but not longer than `limit`.
  /// - Returns: whether it was called.
  @discardableResult
  package func wait(atMost limit: Duration) -> Bool {
    var end = Self.moment(after: limit)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !hasRung, pthread_cond_timedwait(condition, mutex, &end) == 0 {}
    defer { hasRung = false }
    return hasRung
  }

  /// The time of the monotonic clock after a duration.
  private static func moment(after duration: Duration) -> timespec {
    var moment = timespec()
    clock_gettime(CLOCK_MONOTONIC, &moment)
    let (seconds, attoseconds) = min(max(.zero, duration), longestSleep).components
    let nanoseconds = moment.tv_nsec + Int(attoseconds / 1_000_000_000)
    moment.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    moment.tv_nsec = nanoseconds % 1_000_000_000
    return moment
  }
}
