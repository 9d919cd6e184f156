import NIOCore
import Synchronization
import Testing

@testable import DataPlane

@Suite("The limit of connections to an address")
struct ConnectionLimiterTests {
  /// Keeps the notifications of a pool.
  private final class Notifications: Sendable {
    private let state = Mutex<[ConnectionLimiter.Notification]>([])
    var all: [ConnectionLimiter.Notification] { state.withLock { $0 } }
    var notify: ConnectionLimiter.Notify { { notification in self.state.withLock { $0.append(notification) } } }
  }

  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  @Test("The request that has waited longest is granted a connection first, on whichever loop it waits")
  func order() {
    let limiter = ConnectionLimiter(limit: 1, queueLimit: 2)
    let (one, other) = (Notifications(), Notifications())
    let (first, second) = (limiter.register(one.notify), limiter.register(other.notify))
    #expect(limiter.acquire(for: first, now: start) == .granted)
    #expect(limiter.acquire(for: second, now: start) == .queued)
    #expect(one.all == [.idleWanted])
    #expect(limiter.acquire(for: first, now: start) == .queued)
    #expect(limiter.acquire(for: first, now: start) == .queueFull)
    limiter.release()
    #expect(other.all == [.idleWanted, .granted])
    limiter.release()
    #expect(one.all == [.idleWanted, .granted])
    #expect(!limiter.isWaitedFor)
    limiter.release()
    #expect(limiter.acquire(for: second, now: start) == .granted)
  }

  @Test("A pool that has ended is told nothing more, and those that remain get the connections")
  func endedPool() {
    let limiter = ConnectionLimiter(limit: 1, queueLimit: 2)
    let (one, other) = (Notifications(), Notifications())
    let (first, second) = (limiter.register(one.notify), limiter.register(other.notify))
    #expect(limiter.acquire(for: first, now: start) == .granted)
    limiter.unregister(first)
    #expect(limiter.acquire(for: second, now: start) == .queued)
    limiter.release()
    #expect(one.all.isEmpty && other.all == [.granted])
  }

  @Test("A connection that comes back serves its own loop, unless another has waited noticeably longer")
  func turns() {
    let limiter = ConnectionLimiter(limit: 1, queueLimit: 9)
    let (first, second) = (limiter.register { _ in }, limiter.register { _ in })
    #expect(limiter.acquire(for: first, now: start) == .granted)
    #expect(limiter.claimant(of: first) == .none)
    #expect(limiter.acquire(for: second, now: start) == .queued)
    #expect(limiter.claimant(of: first) == .otherPool)
    #expect(limiter.acquire(for: first, now: start + .milliseconds(50)) == .queued)
    #expect(limiter.acquire(for: first, now: start + .milliseconds(500)) == .queued)
    #expect(limiter.claimant(of: first) == .ownPool)
    #expect(limiter.claimant(of: first) == .otherPool)
    limiter.withdraw(from: second)
    #expect(limiter.claimant(of: first) == .ownPool)
    #expect(limiter.claimant(of: first) == .none)
  }

  @Test("Requests do not wait when there is no limit")
  func unlimited() {
    let limiter = ConnectionLimiter(limit: 0, queueLimit: 0)
    let pool = limiter.register { _ in }
    for _ in 0..<10_000 { #expect(limiter.acquire(for: pool, now: start) == .granted) }
    limiter.release()
    #expect(!limiter.isWaitedFor)
  }
}
