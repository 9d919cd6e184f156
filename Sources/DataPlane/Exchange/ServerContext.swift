internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// The state that the client connections of one listener share on one event loop. Used on that loop only.
final class ServerContext {
  let loop: LoopResources
  let gate: any RequestGate
  let observer: any ExchangeObserver
  /// Replaced as a whole, from the next request on.
  private(set) var configuration: ExchangeConfiguration
  /// By the number that ``ForwardingDirective/upstream`` has.
  private(set) var upstreams: [UpstreamBalancer]
  /// The rewriting for each of them, and whether it changes every request.
  private var rewritings: [(rewriting: UpstreamRewriting, changesRequests: Bool)]
  let isTLS: Bool
  private var shutdown = Shutdown.none
  private var connections: [ObjectIdentifier: any AcceptedConnection] = [:]
  private let reviews: ReviewRounds

  /// The time for which an idle connection is kept open in a shutdown: a request on its way would be lost, and no
  /// client may repeat a POST that was not answered.
  static let idleGrace = TimeAmount.milliseconds(250)
  /// The same during and just after a TLS handshake: the first request is a round trip or two away.
  static let handshakeGrace = TimeAmount.seconds(2)

  /// The progress of the listener's shutdown.
  private enum Shutdown {
    case none
    /// Every response says that its connection ends.
    case announced
    /// The same, and idle connections are closed after ``idleGrace``, and none is accepted.
    /// - completion: called once no connection is left.
    case draining(completion: () -> Void)
  }

  /// - Parameter upstreams: shared with the other listeners of the loop.
  init(
    loop: LoopResources, gate: any RequestGate, observer: any ExchangeObserver, configuration: ExchangeConfiguration,
    upstreams: [UpstreamBalancer], isTLS: Bool
  ) {
    self.loop = loop
    self.gate = gate
    self.observer = observer
    reviews = ReviewRounds(gate: gate, eventLoop: loop.eventLoop)
    self.upstreams = upstreams
    rewritings = Self.rewritings(for: upstreams)
    self.isTLS = isTLS
    self.configuration = configuration
  }

  /// Replaces the configuration, from the next request on.
  func apply(_ configuration: ExchangeConfiguration, upstreams: [UpstreamBalancer]) {
    self.upstreams = upstreams
    rewritings = Self.rewritings(for: upstreams)
    let trustsOthers = self.configuration.trustedProxies != configuration.trustedProxies
    self.configuration = configuration
    guard trustsOthers else { return }
    // Revokes the trust in proxies on open connections, too.
    for connection in connections.values where connection.peer.isAddressKnown {
      connection.peer = peer(connection.peer.ipAddress)
    }
  }

  /// The time in which a new connection has to shake hands, or without TLS to send the head of a request.
  var firstWait: TimeAmount { isTLS ? configuration.waits.handshake : configuration.waits.head }

  // MARK: The gate and the observer

  // Called here, and not by the transports: each would retain what it calls, for every call.

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    gate.decide(head, bytes, client, requestID)
  }

  func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction? {
    gate.present(action, for: request)
  }

  func exchangeBegan() { observer.exchangeBegan() }
  func exchangeEnded(_ record: borrowing ExchangeRecord) { observer.exchangeEnded(record) }

  /// The fields that the observer wants in addition to the request line; nil if it does not want the line either.
  var wantedFields: WantedFields? { observer.wantsRequestLine ? observer.wantedFields : nil }

  // MARK: Peers

  /// The peer with an IP address; nil is the peer of a Unix socket.
  func peer(_ text: String?) -> ClientPeer {
    guard let text else { return ClientPeer(address: ClientPeer.unix, isTrusted: false, isTLS: isTLS) }
    let proxies = configuration.trustedProxies
    let trusted = !proxies.isEmpty && IPAddress(text).map { ip in proxies.contains { $0.contains(ip) } } ?? false
    return ClientPeer(address: text, isTrusted: trusted, isTLS: isTLS)
  }

  /// The peer of a connection whose client is not known, at a load balancer with this address. Nothing that it says of
  /// others is believed: that may be its client speaking.
  func peer(forUnknownClientOf balancer: String?) -> ClientPeer {
    var peer = ClientPeer(address: balancer ?? ClientPeer.unix, isTrusted: false, isTLS: isTLS)
    peer.isAddressKnown = false
    return peer
  }

  // MARK: Upstreams

  /// The rewriting for a request to the upstream of this number; nil if the request needs none.
  @inline(__always)
  func rewriting(at number: Int, hasDestination: Bool) -> UpstreamRewriting? {
    guard number < rewritings.count, hasDestination || rewritings[number].changesRequests else { return nil }
    return rewritings[number].rewriting
  }

  /// The rewriting for an upstream, whatever is configured by now.
  func rewriting(for upstream: UpstreamBalancer) -> UpstreamRewriting {
    upstreams.firstIndex { $0 === upstream }.map { rewritings[$0].rewriting } ?? UpstreamRewriting(upstream.settings)
  }

  private static func rewritings(
    for upstreams: [UpstreamBalancer]
  ) -> [(rewriting: UpstreamRewriting, changesRequests: Bool)] {
    upstreams.map { upstream in
      let rewriting = UpstreamRewriting(upstream.settings)
      return (rewriting, rewriting.changesRequests)
    }
  }

  /// Closes idle connections to the upstreams, and keeps none from now on.
  func closeUpstreams() { for upstream in upstreams { upstream.close() } }

  // MARK: Connections

  func opened(_ connection: any AcceptedConnection) {
    connections[ObjectIdentifier(connection)] = connection
    observer.connectionsChanged(by: 1)
  }

  func ended(_ connection: any AcceptedConnection) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    observer.connectionsChanged(by: -1)
    if connections.isEmpty, case .draining(let completion) = shutdown { completion() }
  }

  var connectionCount: Int { connections.count }

  /// Aborts every connection.
  func abortConnections() { for connection in connections.values { connection.abort() } }

  /// The sessions that have an exchange under way.
  var sessionsUnderWay: Set<ConnectionKey> { Set(connections.values.flatMap(\.sessions)) }

  /// Has the exchanges of a connection reviewed, until it says that it has none.
  func review(_ connection: any ReviewedConnection) { reviews.add(connection) }

  // MARK: Shutdown

  /// Whether every response says that its connection ends: the listener shuts down, or is about to.
  @inline(__always)
  var announcesShutdown: Bool { if case .none = shutdown { false } else { true } }

  /// Whether the listener shuts down.
  @inline(__always)
  var isDraining: Bool { if case .draining = shutdown { true } else { false } }

  /// Closes each connection after its next response, and says so in that response (`Connection: close`).
  func announceShutdown() { if !announcesShutdown { shutdown = .announced } }

  /// Lets what is in flight finish, closes the rest, then calls `completion`.
  func drain(_ completion: @escaping () -> Void) {
    shutdown = .draining(completion: completion)
    if connections.isEmpty { completion() }
    for connection in connections.values { connection.drain() }
  }

  // MARK: Sessions that end

  /// Ends what is under way for these sessions: tunnels, requests and responses.
  func endExchanges(of sessions: Set<ConnectionKey>, for ending: ExchangeEnding) {
    for connection in connections.values { connection.endExchanges(of: sessions, for: ending) }
  }
}
