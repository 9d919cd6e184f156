internal import HTTPWire
package import NIOCore
package import SocketTransport
internal import TLSTransport

/// The dependencies of a listener. Each is called once for each event loop, on that loop.
package struct ListenerDependencies {
  /// Authorizes the requests of the loop's connections.
  package var gate: any RequestGate
  /// Receives the events of the loop's connections and exchanges.
  package var observer: any ExchangeObserver
  /// Receives the address of a peer whose connection was closed because it did not begin with a PROXY header.
  package var proxyHeaderMissing: (_ peer: String) -> Void

  /// The two parts of the gateway that a listener calls back; without `proxyHeaderMissing` such peers are not reported.
  package init(
    gate: any RequestGate, observer: any ExchangeObserver, proxyHeaderMissing: @escaping (String) -> Void = { _ in }
  ) {
    self.gate = gate
    self.observer = observer
    self.proxyHeaderMissing = proxyHeaderMissing
  }
}

/// The addresses that the gateway listens on, served by every event loop of its group.
///
/// Each loop has a socket of its own for each address (`SO_REUSEPORT`), so that the kernel spreads connections and no
/// loop hands any to another. A Unix socket, and one that the process was started with, cannot be shared that way:
/// there one loop accepts and hands out.
package final class Listener: Sendable {
  private let loops: [LoopAcceptors]
  private let admission: ConnectionAdmission
  private let clients: ClientConnections
  /// In the order of ``ListenerSettings/acceptors``.
  let boundSockets: [BoundSocket]

  /// One event loop with what its connections share.
  struct LoopAcceptors: Sendable {
    let eventLoop: SocketEventLoop
    /// In the order of ``ListenerSettings/acceptors``.
    let acceptors: NIOLoopBound<[ConnectionAcceptor]>
  }

  /// An address that is bound, with what accepts on it.
  struct BoundSocket: Sendable {
    /// One for each loop that accepts.
    let gates: [NIOLoopBound<AcceptGate>]
    /// Whether another process holds the socket, too, and passes it to the next one.
    let isInherited: Bool
    /// Whether another process serves the same address with sockets of its own (`SO_REUSEPORT`): the kernel divides
    /// connections among all of them.
    var isShared = false
    /// The address that is bound, with the port that the system chose.
    let address: BindAddress
    /// Nil for an IP address.
    var file: SocketFile?
  }

  private init(
    loops: [LoopAcceptors], admission: ConnectionAdmission, clients: ClientConnections, boundSockets: [BoundSocket]
  ) {
    self.loops = loops
    self.admission = admission
    self.clients = clients
    self.boundSockets = boundSockets
  }

  /// The first address that is bound, with the port that the system chose.
  package var address: BindAddress { boundSockets[0].address }

  /// Every address that is bound.
  package var addresses: [BindAddress] { boundSockets.map(\.address) }

  /// The files of the Unix sockets among them.
  package var socketFiles: [SocketFile] { boundSockets.compactMap(\.file) }

  /// The addresses that another process serves, too: the predecessor of this one, or a mistake.
  package var sharedAddresses: [BindAddress] { boundSockets.filter(\.isShared).map(\.address) }

  /// Binds and serves.
  /// - Parameters:
  ///   - eventLoops: those that serve it, at least one.
  ///   - sockets: what the process was started with; an acceptor whose socket is among them binds none.
  ///   - use: what its connections are for.
  ///   - dependencies: makes the gate and the observer of one loop.
  /// - Throws: ``ListenerError``, or an error of the system.
  package static func start(
    _ configuration: ListenerConfiguration, on eventLoops: [SocketEventLoop],
    sockets: InheritedSockets = InheritedSockets(),
    use: DescriptorBudget.Use = .client, dependencies: @escaping @Sendable (any EventLoop) -> ListenerDependencies
  ) async throws -> Listener {
    let acceptors = configuration.settings.acceptors
    let admission = ConnectionAdmission(wanted: configuration.settings.limits.connections)
    let clients = ClientConnections(limit: configuration.settings.limits.connectionsPerClient)
    var loops: [LoopAcceptors] = []
    for eventLoop in eventLoops {
      let loop = try await eventLoop.submit {
        let resources = LoopResources(eventLoop: eventLoop, loops: eventLoops.count)
        let dependencies = dependencies(eventLoop)
        let upstreams = UpstreamBalancer.all(
          configuration.upstreams, keeping: [], loop: resources, observer: dependencies.observer)
        let acceptors = zip(acceptors, configuration.tls).map { acceptor, tls in
          let server = ServerContext(
            loop: resources, gate: dependencies.gate, observer: dependencies.observer,
            configuration: ExchangeConfiguration(configuration, acceptor), upstreams: upstreams,
            isTLS: acceptor.tls != nil)
          return ConnectionAcceptor(
            server: server, loop: eventLoop, admission: admission, clients: clients, use: use, settings: acceptor,
            tls: tls?.context, proxyHeaderMissing: dependencies.proxyHeaderMissing)
        }
        return LoopAcceptors(eventLoop: eventLoop, acceptors: NIOLoopBound(acceptors, eventLoop: eventLoop))
      }.get()
      loops.append(loop)
    }
    let boundSockets = try await open(acceptors, sockets, loops: loops)
    // Everything that is not a connection has been opened by now, or nearly so.
    DescriptorBudget.process.measure(sockets: boundSockets.reduce(0) { $0 + $1.gates.count })
    return Listener(loops: loops, admission: admission, clients: clients, boundSockets: boundSockets)
  }

  /// Replaces the configuration, loop after loop, between two requests of each. Requests under way end as they began;
  /// the next of the same connection goes by the new configuration. The addresses stay, and so does whether there is
  /// TLS.
  /// - Parameter alongside: performed on each loop together with the change, so that gate and configuration always
  ///   match.
  package func apply(_ configuration: ListenerConfiguration, alongside: @escaping @Sendable (any EventLoop) -> Void)
    async
  {
    admission.apply(wanted: configuration.settings.limits.connections)
    clients.apply(limit: configuration.settings.limits.connectionsPerClient)
    let settings = configuration.settings.acceptors
    for loop in loops {
      try? await loop.eventLoop.submit {
        let acceptors = loop.acceptors.value
        guard let server = acceptors.first?.server else { return }
        let upstreams = UpstreamBalancer.all(
          configuration.upstreams, keeping: server.upstreams, loop: server.loop, observer: server.observer)
        for (place, acceptor) in acceptors.enumerated() {
          acceptor.server.apply(ExchangeConfiguration(configuration, settings[place]), upstreams: upstreams)
          acceptor.apply(settings[place])
          acceptor.apply(configuration.tls[place]?.context)
        }
        alongside(loop.eventLoop)
      }.get()
    }
  }

  /// Takes the certificates and keys that the configuration has by now, for connections that are accepted from now on.
  package func adoptCertificates(of configuration: ListenerConfiguration) async {
    let contexts = configuration.tls.map { $0?.context }
    await forEachAcceptor { place, acceptor in acceptor.apply(contexts[place]) }
  }

  /// Calls `body` with every acceptor, on its event loop; returns when it was called for each.
  func forEachAcceptor(_ body: @escaping @Sendable (_ place: Int, _ acceptor: ConnectionAcceptor) -> Void) async {
    for loop in loops {
      try? await loop.eventLoop.submit {
        for (place, acceptor) in loop.acceptors.value.enumerated() { body(place, acceptor) }
      }.get()
    }
  }

  /// Continues to serve, but announces in every response that its connection ends (`Connection: close`), so that
  /// clients and balancers which keep connections move elsewhere in time.
  package func beginGracefulShutdown() async {
    await forEachAcceptor { _, acceptor in acceptor.server.announceShutdown() }
  }

  /// Aborts every connection, in the middle of whatever it does.
  package func abortConnections() {
    for loop in loops {
      loop.eventLoop.execute { for acceptor in loop.acceptors.value { acceptor.server.abortConnections() } }
    }
  }

  /// Stops accepting, lets requests in flight finish, and ends those that are not done in time.
  /// - Returns: the number of connections that were aborted at the limit.
  @discardableResult
  package func drain(within limit: Duration) async -> Int {
    for socket in boundSockets { await stopAccepting(on: socket) }
    let deadline = TimeAmount(limit)
    // All loops at once: the limit is for the whole.
    let drained = loops.map { Self.drain($0, within: deadline) }
    var aborted = 0
    for done in drained { aborted += (try? await done.get()) ?? 0 }
    await forEachAcceptor { place, acceptor in if place == 0 { acceptor.server.closeUpstreams() } }
    return aborted
  }

  /// Removes the files of its Unix sockets. For a listener that is not drained, because the process cannot start.
  package func removeSocketFiles() { for file in socketFiles { file.remove() } }

  /// Closes a socket, and removes its file. What waits in the queue of an inherited one is for the next process, the
  /// rest is served.
  private func stopAccepting(on socket: BoundSocket) async {
    await finishHandingOut(socket)
    socket.file?.remove()
    let isInherited = socket.isInherited
    for gate in socket.gates {
      try? await gate.eventLoop.submit {
        if isInherited { gate.value.close() } else { gate.value.closeServingRest() }
      }.get()
    }
  }

  /// Drains the connections of one loop.
  /// - Returns: the number of those that were aborted at the limit.
  private static func drain(_ loop: LoopAcceptors, within limit: TimeAmount) -> EventLoopFuture<Int> {
    let done = loop.eventLoop.makePromise(of: Int.self)
    loop.eventLoop.execute {
      let servers = loop.acceptors.value.map(\.server)
      let aborted = NIOLoopBoundBox(0, eventLoop: loop.eventLoop)
      let timer = loop.eventLoop.scheduleTask(in: limit) {
        let servers = loop.acceptors.value.map(\.server)
        aborted.value = servers.reduce(0) { $0 + $1.connectionCount }
        for server in servers { server.abortConnections() }
      }
      var left = servers.count
      for server in servers {
        server.drain {
          left -= 1
          guard left == 0 else { return }
          timer.cancel()
          done.succeed(aborted.value)
        }
      }
    }
    return done.futureResult
  }

  /// Has the loops take the connections that were handed to them. Where one loop accepts for all, a connection on its
  /// way to another loop when the listener closes would be closed with it. So that loop stops accepting first.
  private func finishHandingOut(_ socket: BoundSocket) async {
    guard socket.gates.count < loops.count else { return }
    for gate in socket.gates { try? await gate.eventLoop.submit { gate.value.stop() }.get() }
    for loop in loops { try? await loop.eventLoop.submit {}.get() }
  }

  /// The sessions that have an exchange under way, on any loop.
  package func sessionsUnderWay() async -> Set<ConnectionKey> {
    var sessions: Set<ConnectionKey> = []
    for loop in loops {
      let more = try? await loop.eventLoop.submit { loop.acceptors.value.map(\.server.sessionsUnderWay) }.get()
      for some in more ?? [] { sessions.formUnion(some) }
    }
    return sessions
  }

  /// Ends, on every loop, what is under way for these sessions. Returns when it has been done.
  package func endExchanges(of sessions: Set<ConnectionKey>, for ending: ExchangeEnding) async {
    await forEachAcceptor { _, acceptor in acceptor.server.endExchanges(of: sessions, for: ending) }
  }
}
