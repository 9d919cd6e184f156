internal import HTTPWire
internal import NIOCore
internal import Synchronization
internal import TLSTransport

/// The connections of one event loop to one address: kept when a response is over, and used again, newest first.
///
/// A connection is made for the client that asks for it; whichever of client and connection is ready first waits for
/// the other. A connection whose client has left is kept for the next, unless more are on their way than may be kept.
final class UpstreamPool {
  /// The number of its address among those of the upstream.
  let number: Int
  private let loop: LoopResources
  let endpoint: UpstreamEndpoint
  private let waits: UpstreamWaits
  /// Whether an exchange is a stream of its own (HTTP/2): the end of a request is delimited, whatever the application
  /// reads.
  let speaksHTTP2: Bool
  let settings: UpstreamSettings
  let responses: ResponseReading
  private let onEvent: (Event) -> Void
  private let idle: IdleConnections
  /// Connections on their way.
  private var connecting: [ObjectIdentifier: Opening] = [:]
  /// Requests that wait for a connection below the limit, in order of arrival.
  private var waiting: [UpstreamWaiter] = []
  /// Its number at the limiter of the address; nil if there is no limit.
  private var limiterID: Int?
  /// Use that its descriptors are counted for.
  private let use: DescriptorBudget.Use
  /// Exchanges under way.
  var outstanding = 0
  private var outlierDetection = OutlierDetection()
  /// Whether the last request got a response: then another one changes nothing on this event loop.
  private var lastRequestSucceeded = false
  private var random = QuickRandom(seed: .random(in: .min ... .max))
  private(set) var isClosed = false
  private var connector: EndpointConnector

  /// Events of connections.
  enum Event {
    /// One is ready for use, so long after it was wanted.
    case opened(after: TimeAmount)
    /// One could not be opened.
    case failed(UpstreamFailure)
    /// A response on one breaks the protocol.
    case malformed(String)
    /// One that was opened has ended.
    case ended
  }

  /// A connection that is being established, and the request that asked for it.
  private struct Opening {
    let connection: UpstreamConnection
    let began: NIODeadline
    let waiter: UpstreamWaiter
    /// Its channel, where that is not connected at once.
    var pending: PendingConnection?
  }

  /// - Parameter onEvent: receives the events of its connections.
  init(
    loop: LoopResources, settings: UpstreamSettings, endpoint: UpstreamEndpoint, number: Int = 0,
    use: DescriptorBudget.Use = .upstream, proposesLenience: Bool = true, onEvent: @escaping (Event) -> Void
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.number = number
    self.settings = settings
    waits = UpstreamWaits(settings.timeouts)
    connector = EndpointConnector(endpoint, on: loop.eventLoop, timeout: waits.connect)
    idle = IdleConnections(limit: settings.idleConnectionsPerLoop, wheel: loop.wheel)
    speaksHTTP2 = settings.speaks == .http2
    responses = ResponseReading(
      settings, limits: loop.responseParser.limits, proposesLenience: proposesLenience)
    self.use = use
    self.onEvent = onEvent
    if settings.maximumConnections > 0 { limiterID = endpoint.limiter.register(notifier()) }
  }

  private func notifier() -> ConnectionLimiter.Notify {
    let bound = NIOLoopBound(WeakPool(pool: self), eventLoop: loop.eventLoop)
    let (eventLoop, limiter) = (loop.eventLoop, endpoint.limiter)
    return { notification in
      eventLoop.execute {
        if let pool = bound.value.pool {
          pool.notified(of: notification)
        } else if case .granted = notification {
          limiter.release()
        }
      }
    }
  }

  /// The limiter must not keep a pool alive.
  private struct WeakPool { weak var pool: UpstreamPool? }

  // MARK: Load balancing

  /// Requests under way, those included that wait for a connection.
  @inline(__always)
  var load: Int { outstanding + connecting.count + waiting.count }

  /// Whether the address may have to be left out.
  @inline(__always)
  var isUnhealthy: Bool { outlierDetection.isEjectedOrHalfOpen || endpoint.failsChecks.load(ordering: .relaxed) }

  /// Whether a request may be sent there.
  func admits(at now: NIODeadline) -> Bool {
    guard !endpoint.failsChecks.load(ordering: .relaxed) else { return false }
    switch outlierDetection.health(at: now) {
    case .healthy: return true
    case .ejected: return false
    case .halfOpen: return load == 0
    }
  }

  /// A request was answered. That is noted for all event loops, each time: another one may have ejected the address
  /// while this one had no request, and so no failure.
  @inline(__always)
  func answered(isHTTP11: Bool) {
    if !lastRequestSucceeded {
      lastRequestSucceeded = true
      endpoint.hasAnswered.store(true, ordering: .relaxed)
      _ = outlierDetection.succeeded(at: loop.eventLoop.now)
    }
    endpoint.noteAnswer(isHTTP11: isHTTP11)
  }

  /// Whether the last response of the address was HTTP/1.0.
  var answersHTTP10: Bool { endpoint.isHTTP10 }

  /// A request could not be sent, or was not answered, or not in HTTP.
  func failed(_ failure: UpstreamFailure) {
    lastRequestSucceeded = false
    let isMalformed = if case .badResponse = failure { true } else { false }
    endpoint.noteFailure(isMalformed: isMalformed)
    if outlierDetection.failed(at: loop.eventLoop.now, chance: random.fraction()) { endpoint.noteEjection() }
  }

  // MARK: Use by the exchange

  /// Takes the newest idle connection. This does not overtake waiting requests: an idle connection was closed for each.
  @inline(__always)
  func takeIdle() -> UpstreamConnection? { idle.take() }

  /// Makes a connection for `client`, and calls its `upstreamReady` or `upstreamFailed`, possibly at once.
  /// - Returns: the waiting request, to be withdrawn if the client gives up; nil if it has been answered.
  @discardableResult
  func connect(for client: any UpstreamResponseReceiver) -> UpstreamWaiter? {
    let waiter = UpstreamWaiter(client, in: self)
    connect(waiter)
    return waiter.isWaiting ? waiter : nil
  }

  private func connect(_ waiter: UpstreamWaiter) {
    guard let limiterID else { return open(for: waiter) }
    let now = NIODeadline.now()
    switch endpoint.limiter.acquire(for: limiterID, now: now) {
    case .granted: open(for: waiter)
    case .queueFull: waiter.take()?.upstreamFailed(.connectionLimit)
    case .queued:
      waiting.append(waiter)
      loop.wheel.arm(waiter, after: waits.connect, now: now)
      // Makes room for a request that must not reuse a connection: it would wait for the idle timeout otherwise.
      idle.take()?.close()
    }
  }

  /// Takes one out of the queue, or gives its connection up where more are on their way than may be kept: to an address
  /// that does not answer, clients that leave could otherwise take the descriptors of all others.
  func withdraw(_ waiter: UpstreamWaiter) {
    guard let limiterID, let place = waiting.firstIndex(where: { $0 === waiter }) else {
      if connecting.count > settings.idleConnectionsPerLoop { abandon(waiter) }
      return
    }
    waiting.remove(at: place)
    loop.wheel.remove(waiter)
    endpoint.limiter.withdraw(from: limiterID)
  }

  /// Ends the attempt to connect for a request that no longer waits. It says nothing about the health of the address.
  private func abandon(_ waiter: UpstreamWaiter) {
    guard let key = waiter.connection, let opening = connecting.removeValue(forKey: key) else { return }
    opening.pending?.cancel()
    opening.connection.close()
    giveBack()
  }

  /// Removes and returns the first of the queue.
  private func nextWaiting() -> UpstreamWaiter? {
    guard !waiting.isEmpty else { return nil }
    let waiter = waiting.removeFirst()
    loop.wheel.remove(waiter)
    return waiter.isWaiting ? waiter : nil
  }

  private func notified(of notification: ConnectionLimiter.Notification) {
    switch notification {
    case .granted:
      if let waiter = nextWaiting() { open(for: waiter) } else { releaseLimit() }
    case .idleWanted:
      guard let limiterID else { return }
      var count = endpoint.limiter.acknowledgeIdleWanted(by: limiterID)
      while count > 0, let connection = idle.take() {
        connection.close()
        count -= 1
      }
    }
  }

  /// Makes a connection within the limit.
  private func open(for waiter: UpstreamWaiter) {
    guard loop.descriptors.take(use) else {
      releaseLimit()
      waiter.take()?.upstreamFailed(.noDescriptor)
      return
    }
    let connection = UpstreamConnection(
      loop: loop, pool: self, timeouts: waits, awaitsHandshake: endpoint.tls != nil,
      isAtSocket: endpoint.tls == nil && !speaksHTTP2)
    let now = NIODeadline.now()
    let key = ObjectIdentifier(connection)
    connecting[key] = Opening(connection: connection, began: now, waiter: waiter)
    waiter.connection = key
    connection.awaitConnection(now: now)
    let bound = NIOLoopBound((self, connection), eventLoop: loop.eventLoop)
    // The handlers go to the channel that is connected: a name with several addresses is tried on several channels.
    let pending = connector.connect()
    connecting[key]?.pending = pending
    pending.channel.whenComplete { result in
      let (pool, connection) = bound.value
      switch result {
      case .failure(let error):
        pool.ended(connection, wasOpen: false, failure: UpstreamFailure(ofConnecting: error))
      case .success(let channel): pool.add(connection, to: channel)
      }
    }
  }

  /// Adds a connection to the channel that has been connected for it, behind TLS and HTTP/2.
  private func add(_ connection: UpstreamConnection, to channel: any Channel) {
    guard connection.isConnecting else { return channel.close(promise: nil) }
    let pipeline = channel.pipeline.syncOperations
    do {
      let tls = try connector.makeTLSHandler()
      if let tls { try pipeline.addHandler(tls) }
      if speaksHTTP2 {
        try pipeline.addHandler(HTTP2UpstreamCodec(loop: loop, connection: connection, isTLS: tls != nil))
      }
      try pipeline.addHandler(connection)
    } catch {
      ended(connection, wasOpen: false, failure: .handshake(String(describing: error)))
      channel.close(promise: nil)
    }
  }

  // MARK: Use by the connection

  /// Reports a response that violates the protocol in any part of it.
  func reportMalformed(_ reason: String) { onEvent(.malformed(reason)) }

  /// Takes a connection back whose exchange is over.
  func release(_ connection: UpstreamConnection, now: NIODeadline) {
    guard !isClosed else { return connection.close() }
    guard let limiterID, endpoint.limiter.isWaitedFor else { return idle.keep(connection, now: now) }
    switch endpoint.limiter.claimant(of: limiterID) {
    case .none: idle.keep(connection, now: now)
    case .otherPool: connection.close()
    case .ownPool:
      // The first in the queue no longer waits: look for the next.
      guard let waiter = nextWaiting() else { return release(connection, now: now) }
      // After all steps of the exchange that it carried.
      let bound = NIOLoopBound((self, connection, waiter), eventLoop: loop.eventLoop)
      loop.eventLoop.execute {
        let (pool, connection, waiter) = bound.value
        pool.handOver(connection, to: waiter)
      }
    }
  }

  /// Gives a connection to the request that has waited for it. If the connection has ended since its last response, the
  /// request gets another one: it may be one that cannot be sent again.
  private func handOver(_ connection: UpstreamConnection, to waiter: UpstreamWaiter) {
    if connection.isIdle, connection.hasUnreadInput { connection.close() }
    if !connection.isIdle {
      if waiter.isWaiting { connect(waiter) }
    } else if let client = waiter.take() {
      client.upstreamReady(connection)
    } else {
      release(connection, now: .now())
    }
  }

  /// Forgets an idle connection.
  func remove(_ connection: UpstreamConnection) { idle.remove(connection) }

  /// Closes what is idle, and keeps nothing from now on. Requests that wait, or come later to an upstream that was
  /// replaced while their bodies arrived, still get a connection each.
  func close() {
    isClosed = true
    idle.close()
  }

  deinit { if let limiterID { endpoint.limiter.unregister(limiterID) } }

  func established(_ connection: UpstreamConnection) {
    let opening = connecting.removeValue(forKey: ObjectIdentifier(connection))
    onEvent(.opened(after: opening.map { .now() - $0.began } ?? .zero))
    if let client = opening?.waiter.take() {
      client.upstreamReady(connection)
    } else if isClosed {
      connection.close()
    } else {
      release(connection, now: .now())
    }
  }

  /// - Parameters:
  ///   - wasOpen: whether it was established before.
  ///   - failure: what to tell the client that waits for a connection on its way.
  func ended(_ connection: UpstreamConnection, wasOpen: Bool, failure: UpstreamFailure) {
    if let opening = connecting.removeValue(forKey: ObjectIdentifier(connection)) {
      // A connection that has taken too long may still be on its way.
      opening.pending?.cancel()
      giveBack()
      let counted = countFailedConnect(failure)
      opening.waiter.take()?.upstreamFailed(counted)
    } else if wasOpen {
      giveBack()
      remove(connection)
      onEvent(.ended)
    }
  }

  /// Counts an attempt to connect that has failed. A shortage of our own says nothing about the health of the address.
  /// - Returns: the failure that it was counted as, for the client.
  func countFailedConnect(_ failure: UpstreamFailure) -> UpstreamFailure {
    switch failure {
    case .noDescriptor: loop.descriptors.ranOut()
    case .localShortage where endpoint.hasAnswered.load(ordering: .relaxed): onEvent(.failed(failure))
    // It may be an address that this system cannot reach at all: of IPv6, where that is off.
    case .localShortage(let reason): return countFailedConnect(.connect(reason))
    default:
      onEvent(.failed(failure))
      failed(failure)
    }
    return failure
  }

  /// Returns what a connection held, once it has ended.
  private func giveBack() {
    loop.descriptors.give(use)
    releaseLimit()
  }

  private func releaseLimit() {
    if limiterID != nil { endpoint.limiter.release() }
  }
}
