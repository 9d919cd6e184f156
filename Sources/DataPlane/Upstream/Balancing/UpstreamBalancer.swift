internal import HTTPWire
internal import NIOCore

/// Chooses among the addresses of one upstream, on one event loop: of two at random the one with fewer requests under
/// way, which is nearly as good as the least busy of all, and does not send everybody to the same one at once.
///
/// Addresses that are ejected or fail their checks are left out; never all of them: where none is left, all are tried.
final class UpstreamBalancer {
  let pools: [UpstreamPool]
  /// Whether the application knows other paths or another host than its clients: its cookies have to be rewritten.
  let rewritesCookies: Bool
  /// Whether exchanges are streams of their own (HTTP/2).
  let speaksHTTP2: Bool
  /// Whether connections are kept for another request.
  private let keepsConnections: Bool
  private let eventLoop: any EventLoop
  private var random: QuickRandom

  init(_ pools: [UpstreamPool], eventLoop: any EventLoop, seed: UInt64 = .random(in: .min ... .max)) {
    self.pools = pools
    // Of all alike, and stored, because a pool that is asked for them is retained.
    let settings = pools[0].settings
    rewritesCookies = settings.strippedPrefix != nil || settings.host != nil
    speaksHTTP2 = pools[0].speaksHTTP2
    keepsConnections = settings.idleConnectionsPerLoop > 0
    self.eventLoop = eventLoop
    random = QuickRandom(seed: seed)
  }

  /// The connections of one event loop to the addresses of a group.
  convenience init(_ group: UpstreamGroup, loop: LoopResources, onEvent: @escaping (UpstreamPool.Event) -> Void) {
    let pools = group.endpoints.enumerated().map { number, endpoint in
      UpstreamPool(loop: loop, settings: group.settings, endpoint: endpoint, number: number, onEvent: onEvent)
    }
    self.init(pools, eventLoop: loop.eventLoop)
  }

  /// Whether these are the connections to this very group.
  func serves(_ group: UpstreamGroup) -> Bool {
    pools.count == group.endpoints.count && zip(pools, group.endpoints).allSatisfy { $0.endpoint === $1 }
  }

  /// The settings of the upstream.
  var settings: UpstreamSettings { pools[0].settings }

  /// Most bytes of a request body without a length that are collected, so that the body can be sent with one; 0 if
  /// chunks are passed on.
  var requestBuffer: Int {
    if speaksHTTP2 { return 0 }
    if let limit = settings.requestBuffer { return limit }
    return pools.contains(where: \.answersHTTP10) ? UpstreamSettings.oldRequestBuffer : 0
  }

  /// Whether a request ends its connection (`Connection: close`, RFC 9112, 9.6). An application that answers without
  /// reading a body takes that body for the next request: of a connection that ends, nothing is read after it. So each
  /// does where no connection is kept, and so does one whose body means nothing to its method.
  @inline(__always)
  func endsConnection(_ method: RequestHead.Method, hasBody: Bool) -> Bool {
    guard !speaksHTTP2 else { return false }
    return !keepsConnections || hasBody && !method.readsBody
  }

  /// The address for a request.
  @inline(__always)
  func choose() -> UpstreamPool {
    let count = pools.count
    if count == 1 { return pools[0] }
    let (first, second) = twoPlaces(below: count)
    let (one, other) = (pools[first], pools[second])
    if one.isUnhealthy || other.isUnhealthy { return choose(avoiding: 0) }
    return other.load < one.load ? other : one
  }

  /// The address for a request that could not be sent to some: by number, a bit for each.
  func choose(avoiding tried: UInt64) -> UpstreamPool {
    let now = eventLoop.now
    return best(of: { tried & (1 << UInt64($0.number)) == 0 && $0.admits(at: now) })
      ?? best(of: { tried & (1 << UInt64($0.number)) == 0 }) ?? best(of: { _ in true }) ?? pools[0]
  }

  /// Closes what is idle, and keeps nothing from now on.
  func close() { for pool in pools { pool.close() } }

  /// Of two at random among those that `isWanted` says yes to, the one with less to do.
  private func best(of isWanted: (UpstreamPool) -> Bool) -> UpstreamPool? {
    var (one, other): (UpstreamPool?, UpstreamPool?)
    var seen = 0
    // Each pair is as likely as any other (reservoir sampling), without an array to hold the candidates.
    for pool in pools where isWanted(pool) {
      seen += 1
      switch seen {
      case 1: one = pool
      case 2: other = pool
      default:
        switch random.number(below: seen) {
        case 0: one = pool
        case 1: other = pool
        default: break
        }
      }
    }
    guard let one, let other else { return one }
    if one.load == other.load { return random.number(below: 2) == 0 ? one : other }
    return other.load < one.load ? other : one
  }

  @inline(__always)
  private func twoPlaces(below count: Int) -> (Int, Int) {
    let first = random.number(below: count)
    let second = random.number(below: count - 1)
    return (first, second >= first ? second + 1 : second)
  }
}
