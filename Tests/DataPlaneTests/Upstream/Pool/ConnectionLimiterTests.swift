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

  @Test("Connections count from the reload on that gives their upstream a limit, until one that takes it away")
  func limitAdded() {
    let address = AddressConnections()
    let share = address.addShare(limit: 0, queueLimit: 9)
    let pool = address.register({ _ in }, of: share)
    for _ in 0..<3 { #expect(address.acquire(share, for: pool, now: start) == .granted) }
    address.apply([share: .init(connections: 2, queue: 9)])
    #expect(address.claimant(share, of: pool) == .otherPool, "there are too many")
    address.release(share)
    #expect(address.acquire(share, for: pool, now: start) == .queued)
    #expect(address.waitingCount == 1)
    address.apply([share: .init(connections: 0, queue: 9)])
    #expect(address.waitingCount == 0, "it was granted")
    for _ in 0..<3 { #expect(address.acquire(share, for: pool, now: start) == .granted) }
    address.apply([share: .init(connections: 7, queue: 9)])
    #expect(address.acquire(share, for: pool, now: start) == .granted)
    #expect(address.acquire(share, for: pool, now: start) == .queued)
    address.withdraw(share, from: pool)
    #expect(address.waitingCount == 0)
  }

  @Test("The time to find the next request grows with the number of upstreams at the address, not with its square")
  func manyUpstreams() {
    func fastest(of upstreams: Int) -> Duration {
      let address = AddressConnections()
      let shares = (0..<upstreams).map { _ in address.addShare(limit: 1, queueLimit: 1) }
      let limits = AddressConnections.ShareLimits(connections: 1, queue: 1)
      address.apply(Dictionary(uniqueKeysWithValues: shares.map { ($0, limits) }))
      let pools = shares.map { address.register({ _ in }, of: $0) }
      for (share, pool) in zip(shares, pools) { _ = address.acquire(share, for: pool, now: start) }
      return (0..<5).map { _ in
        ContinuousClock().measure {
          for _ in 0..<4 { #expect(address.claimant(shares[0], of: pools[0]) == .otherPool) }
        }
      }.min() ?? .zero
    }
    let few = fastest(of: 50)
    #expect(fastest(of: 50 * 32) < few * (32 * 8))
  }

  // MARK: Several upstreams, and reloads

  /// An upstream at port 9 of this machine.
  private func group(
    _ name: String, limit: Int, host: String = "127.0.0.1", within limits: ConnectionLimits
  ) throws -> UpstreamGroup {
    var settings = UpstreamSettings(name: name, addresses: [.tcp(host: host, port: 9, tls: false)])
    settings.maximumConnections = limit
    return try UpstreamGroup(settings, limits: limits)
  }

  @Test("Upstreams with the same address have together at most the largest of their limits")
  func sameAddress() throws {
    let limits = ConnectionLimits()
    let groups = [
      try group("default", limit: 3, within: limits), try group("slow", limit: 1, host: "localhost", within: limits),
    ]
    limits.apply(groups)
    let (limiter, slow) = (groups[0].endpoints[0].limiter, groups[1].endpoints[0].limiter)
    let (one, other) = (Notifications(), Notifications())
    let (pool, slowPool) = (limiter.register(one.notify), slow.register(other.notify))
    #expect(slow.acquire(for: slowPool, now: start) == .granted)
    // At its own limit: an idle connection of the other upstream would make no room.
    #expect(slow.acquire(for: slowPool, now: start) == .queued)
    #expect(one.all.isEmpty)
    for _ in 0..<2 { #expect(limiter.acquire(for: pool, now: start) == .granted) }
    #expect(limiter.acquire(for: pool, now: start + .milliseconds(1)) == .queued)
    #expect(other.all == [.idleWanted])
    #expect(limiter.waitingCount == 1 && slow.waitingCount == 1)
    #expect(slow.acknowledgeIdleWanted(by: slowPool) == 2)
    #expect(slow.claimant(of: slowPool) == .ownPool)
    #expect(slow.claimant(of: slowPool) == .otherPool)
    slow.release()
    #expect(one.all == [.granted] && other.all == [.idleWanted])
    #expect(!slow.isWaitedFor)
  }

  @Test("An upstream without a limit is not held up by another one with the same address, and does not hold it up")
  func withoutLimit() throws {
    let limits = ConnectionLimits()
    let groups = [try group("default", limit: 1, within: limits), try group("free", limit: 0, within: limits)]
    limits.apply(groups)
    let (limiter, free) = (groups[0].endpoints[0].limiter, groups[1].endpoints[0].limiter)
    let (pool, freePool) = (limiter.register { _ in }, free.register { _ in })
    for _ in 0..<3 { #expect(free.acquire(for: freePool, now: start) == .granted) }
    #expect(limiter.acquire(for: pool, now: start) == .granted)
    #expect(limiter.acquire(for: pool, now: start) == .queued)
    #expect(free.acquire(for: freePool, now: start) == .granted)
  }

  @Test("Connections and requests of before a reload count within the limit of after it")
  func reload() throws {
    let limits = ConnectionLimits()
    let old = try group("default", limit: 1, within: limits)
    limits.apply([old])
    let limiter = old.endpoints[0].limiter
    let (one, other) = (Notifications(), Notifications())
    let pool = limiter.register(one.notify)
    #expect(limiter.acquire(for: pool, now: start) == .granted)
    for _ in 0..<2 { #expect(limiter.acquire(for: pool, now: start) == .queued) }

    // A higher limit: as many as it has room for go on. It holds once it is applied, as the reload may yet fail.
    let raised = try group("default", limit: 2, within: limits)
    #expect(raised.endpoints[0].limiter === limiter && raised.endpoints[0] !== old.endpoints[0])
    #expect(one.all.isEmpty)
    limits.apply([raised])
    #expect(one.all == [.granted] && limiter.waitingCount == 1)
    let newPool = limiter.register(other.notify)
    #expect(limiter.acquire(for: newPool, now: start) == .queued)
    #expect(limiter.waitingCount == 2)

    // A lower one: what is open beyond it is closed, and nobody gets its place.
    limits.apply([try group("default", limit: 1, within: limits)])
    #expect(other.all == [.idleWanted])
    #expect(limiter.claimant(of: newPool) == .otherPool)
    limiter.release()
    #expect(limiter.waitingCount == 2)
    limiter.release()
    #expect(one.all.last == .granted && limiter.waitingCount == 1)

    // No limit: nobody waits.
    limits.apply([try group("default", limit: 0, within: limits)])
    #expect(other.all == [.idleWanted, .granted] && limiter.waitingCount == 0)
  }

  @Test("Idle connections of another upstream are closed for a request when a reload has left too many open")
  func lowered() throws {
    let limits = ConnectionLimits()
    let present = try group("default", limit: 2, within: limits)
    let old = try group("slow", limit: 10, within: limits)
    limits.apply([present, old])
    let (limiter, slow) = (present.endpoints[0].limiter, old.endpoints[0].limiter)
    let (one, other) = (Notifications(), Notifications())
    let (pool, slowPool) = (limiter.register(one.notify), slow.register(other.notify))
    for _ in 0..<2 { #expect(limiter.acquire(for: pool, now: start) == .granted) }
    for _ in 0..<3 { #expect(slow.acquire(for: slowPool, now: start) == .granted) }
    let next = try group("slow", limit: 2, within: limits)
    limits.apply([present, next])
    #expect(one.all.isEmpty && other.all.isEmpty)

    // At its own limit, but when its connections have ended, the idle ones of the other upstream are too many.
    #expect(slow.acquire(for: slowPool, now: start) == .queued)
    #expect(one.all == [.idleWanted])
    // One for the request, and three that are open beyond the limit.
    #expect(limiter.acknowledgeIdleWanted(by: pool) == 4)

    // A request that waits already when a limit is lowered.
    limits.apply([present, next])
    #expect(one.all == [.idleWanted, .idleWanted] && other.all == [.idleWanted])
  }

  @Test("An upstream that a reload removes counts until its last connection has ended")
  func removed() throws {
    let limits = ConnectionLimits()
    let present = try group("default", limit: 2, within: limits)
    let removed = try group("slow", limit: 8, within: limits)
    limits.apply([present, removed])
    let (limiter, slow) = (present.endpoints[0].limiter, removed.endpoints[0].limiter)
    let (one, other) = (Notifications(), Notifications())
    let (pool, slowPool) = (limiter.register(one.notify), slow.register(other.notify))
    for _ in 0..<2 { #expect(slow.acquire(for: slowPool, now: start) == .granted) }
    limits.apply([present])
    #expect(limiter.acquire(for: pool, now: start) == .queued)
    #expect(slow.claimant(of: slowPool) == .otherPool)
    slow.release()
    #expect(one.all == [.granted])
  }
}
