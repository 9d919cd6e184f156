internal import HTTPWire
internal import NIOCore

/// What the client connections of one listener share on one event loop. Used on that loop only.
final class ServerContext {
  let loop: LoopResources
  let gate: any RequestGate
  let observer: any ExchangeObserver
  let rules: ForwardingRules
  let parser: RequestHeadParser
  /// By the number that ``ForwardingOrder/upstream`` has.
  let upstreams: [UpstreamBalancer]
  let bodyLimit: Int?
  let bodyRate: Int
  let waits: ListenerWaits
  let trustedProxies: [NetworkPrefix]
  let isTLS: Bool
  /// Set when the listener is to end: every response says so, and idle connections are closed.
  private(set) var isDraining = false
  private var connections: [ObjectIdentifier: any AcceptedConnection] = [:]

  init(
    loop: LoopResources, gate: any RequestGate, observer: any ExchangeObserver, rules: ForwardingRules,
    settings: ListenerSettings, upstreams: [UpstreamBalancer]
  ) {
    self.loop = loop
    self.gate = gate
    self.observer = observer
    self.rules = rules
    self.upstreams = upstreams
    let limits = settings.limits
    parser = RequestHeadParser(
      limits: HeadLimits(
        headBytes: limits.headBytes, fieldCount: limits.fieldCount, targetBytes: limits.targetBytes))
    bodyLimit = limits.bodyBytes
    bodyRate = limits.bodyRate
    waits = ListenerWaits(settings.timeouts)
    trustedProxies = settings.trustedProxies
    isTLS = settings.tls != nil
  }

  /// Who stands behind an IP address; nil is a Unix socket's.
  func peer(_ text: String?) -> ClientPeer {
    guard let text else { return ClientPeer(address: "unix", isTrusted: false, isTLS: isTLS) }
    let trusted =
      !trustedProxies.isEmpty && IPAddressBytes(text).map { ip in trustedProxies.contains { $0.contains(ip) } } ?? false
    return ClientPeer(address: text, isTrusted: trusted, isTLS: isTLS)
  }

  func opened(_ connection: any AcceptedConnection) {
    connections[ObjectIdentifier(connection)] = connection
    observer.connectionsChanged(by: 1)
  }

  func ended(_ connection: any AcceptedConnection) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    observer.connectionsChanged(by: -1)
    if isDraining, connections.isEmpty { drained?() }
  }

  /// Lets what is in flight finish, closes the rest, then calls `completion`.
  func drain(_ completion: @escaping () -> Void) {
    isDraining = true
    drained = completion
    if connections.isEmpty { completion() }
    for connection in connections.values { connection.drain() }
  }

  private var drained: (() -> Void)?

  /// Closes idle connections to the upstreams, and keeps none from now on.
  func closeUpstreams() { for upstream in upstreams { upstream.close() } }

  /// Ends every connection at once.
  func closeAll() { for connection in connections.values { connection.abort() } }

  /// The sessions that have an exchange under way.
  var sessionsUnderWay: Set<SessionTag> { Set(connections.values.flatMap(\.sessions)) }

  /// Ends what still streams for these sessions: tunnels and responses under way.
  func endExchanges(of sessions: Set<SessionTag>) {
    for connection in connections.values { connection.endExchanges(of: sessions) }
  }
}

/// A connection of a listener, whatever it speaks.
protocol AcceptedConnection: AnyObject {
  /// The sessions that have an exchange under way on it.
  var sessions: [SessionTag] { get }
  /// The listener is to end: what is idle now, what is under way behind its response.
  func drain()
  /// Ends it at once, in the middle of whatever it does.
  func abort()
  /// Ends what still streams for these sessions.
  func endExchanges(of sessions: Set<SessionTag>)
}

/// ``ListenerTimeouts`` as the wheel takes them.
struct ListenerWaits {
  let head: TimeAmount
  let bodyProgress: TimeAmount
  let bodyGrace: TimeAmount
  let idle: TimeAmount
  let writeProgress: TimeAmount
  let handshake: TimeAmount

  init(_ timeouts: ListenerTimeouts) {
    head = TimeAmount(timeouts.head)
    bodyProgress = TimeAmount(timeouts.bodyProgress)
    bodyGrace = TimeAmount(timeouts.bodyGrace)
    idle = TimeAmount(timeouts.idle)
    writeProgress = TimeAmount(timeouts.writeProgress)
    handshake = TimeAmount(timeouts.handshake)
  }
}
