internal import HTTPWire
package import NIOCore
internal import TLSTransport

/// The dependencies of a listener. Each is called once for each event loop, on that loop.
package struct ListenerDependencies {
  package var gate: any RequestGate
  package var observer: any ExchangeObserver

  package init(gate: any RequestGate, observer: any ExchangeObserver) {
    self.gate = gate
    self.observer = observer
  }
}

/// The addresses that the gateway listens on, served by every event loop of its group.
///
/// Each loop has a socket of its own for each address (`SO_REUSEPORT`), so that the kernel spreads connections and no
/// loop hands any to another. A Unix socket, and one that the process was started with, cannot be shared that way:
/// there one loop accepts and hands out.
package final class Listener: Sendable {
  private let sites: [Site]
  private let admission: ConnectionAdmission
  private let use: DescriptorBudget.Use
  /// In the order of ``ListenerSettings/entrances``.
  let boundSockets: [BoundSocket]

  /// One event loop with what its connections share.
  struct Site: Sendable {
    let eventLoop: any EventLoop
    /// One for each door, at the same place.
    let entrances: NIOLoopBound<[ConnectionAcceptor]>
  }

  /// One address.
  struct BoundSocket: Sendable {
    let channels: [any Channel]
    /// Whether another process holds the socket, too, and passes it to the next one.
    let isInherited: Bool
    /// Whether another process serves the same address with sockets of its own (`SO_REUSEPORT`): the kernel divides
    /// connections among all of them.
    var isShared = false
    /// The address that is bound, with the port that the system chose.
    let address: BindAddress
  }

  private init(sites: [Site], admission: ConnectionAdmission, use: DescriptorBudget.Use, boundSockets: [BoundSocket]) {
    self.sites = sites
    self.admission = admission
    self.use = use
    self.boundSockets = boundSockets
  }

  /// The first address that is bound, with the port that the system chose.
  package var address: BindAddress { boundSockets[0].address }

  /// Every address that is bound.
  package var addresses: [BindAddress] { boundSockets.map(\.address) }

  /// The addresses that another process serves, too: the predecessor of this one, or a mistake.
  package var sharedAddresses: [BindAddress] { boundSockets.filter(\.isShared).map(\.address) }

  /// Binds and serves.
  /// - Parameters:
  ///   - group: the event loops that serve it.
  ///   - sockets: what the process was started with; an entrance whose socket is among them binds none.
  ///   - use: what its connections are for.
  ///   - parts: makes the gate and the observer of one loop.
  /// - Throws: what the system has against it.
  package static func start(
    _ terms: ListenerConfiguration, on group: any EventLoopGroup, sockets: InheritedSockets = InheritedSockets(),
    use: DescriptorBudget.Use = .client, parts: @escaping @Sendable (any EventLoop) -> ListenerDependencies
  ) async throws -> Listener {
    let entrances = terms.settings.entrances
    let admission = ConnectionAdmission(wanted: terms.settings.limits.connections)
    var sites: [Site] = []
    let loopCount = group.makeIterator().reduce(0) { count, _ in count + 1 }
    for loop in group.makeIterator() {
      let site = try await loop.submit {
        // Never less than a few whole heads.
        let share = max(UnfinishedHeads.processLimit / max(loopCount, 1), 1 << 20)
        let resources = LoopResources(eventLoop: loop, unfinishedBytes: share)
        let parts = parts(loop)
        let upstreams = UpstreamBalancer.all(terms.upstreams, keeping: [], loop: resources, observer: parts.observer)
        let entrances = zip(entrances, terms.tls).map { entrance, tls in
          let context = ServerContext(
            loop: resources, gate: parts.gate, observer: parts.observer,
            configuration: ExchangeConfiguration(terms, entrance), upstreams: upstreams, isTLS: entrance.tls != nil)
          return ConnectionAcceptor(
            context: context, admission: admission, use: use, settings: entrance, tls: tls?.context)
        }
        return Site(eventLoop: loop, entrances: NIOLoopBound(entrances, eventLoop: loop))
      }.get()
      sites.append(site)
    }
    let boundSockets = try await open(entrances, sockets, sites: sites, group: group)
    // Everything that is no connection has been opened by now, or nearly so.
    DescriptorBudget.process.measure(sockets: boundSockets.reduce(0) { $0 + $1.channels.count })
    return Listener(sites: sites, admission: admission, use: use, boundSockets: boundSockets)
  }

  /// Puts other terms in the place of those that hold, loop after loop, between two requests of each. Requests under
  /// way end as they began; the next of the same connection goes by the new terms. The addresses stay, and so does
  /// whether there is TLS.
  /// - Parameter alongside: performed on each loop together with the change, so that gate and configuration always
  ///   match.
  package func apply(_ terms: ListenerConfiguration, alongside: @escaping @Sendable (any EventLoop) -> Void) async {
    admission.apply(wanted: terms.settings.limits.connections)
    let settings = terms.settings.entrances
    for site in sites {
      try? await site.eventLoop.submit {
        let entrances = site.entrances.value
        guard let context = entrances.first?.context else { return }
        let upstreams = UpstreamBalancer.all(
          terms.upstreams, keeping: context.upstreams, loop: context.loop, observer: context.observer)
        for (place, entrance) in entrances.enumerated() {
          entrance.context.apply(ExchangeConfiguration(terms, settings[place]), upstreams: upstreams)
          entrance.apply(settings[place])
          entrance.apply(terms.tls[place]?.context)
        }
        alongside(site.eventLoop)
      }.get()
    }
  }

  /// Takes the certificates and keys that the terms have by now, for connections that are accepted from now on.
  package func adoptCertificates(of terms: ListenerConfiguration) async {
    let contexts = terms.tls.map { $0?.context }
    await forEachEntrance { place, entrance in entrance.apply(contexts[place]) }
  }

  /// Calls `body` with every entrance, on its event loop; returns when it was called for each.
  func forEachEntrance(_ body: @escaping @Sendable (_ place: Int, _ entrance: ConnectionAcceptor) -> Void) async {
    for site in sites {
      try? await site.eventLoop.submit {
        for (place, entrance) in site.entrances.value.enumerated() { body(place, entrance) }
      }.get()
    }
  }

  /// Continues to serve, but announces in every response that its connection ends (`Connection: close`), so that
  /// clients and balancers which keep connections move elsewhere in time.
  package func beginGracefulShutdown() async {
    await forEachEntrance { _, entrance in entrance.context.announceShutdown() }
  }

  /// Ends every connection in the middle of whatever it does.
  package func cutOff() {
    for site in sites {
      site.eventLoop.execute { for entrance in site.entrances.value { entrance.context.closeAll() } }
    }
  }

  /// Stops accepting, lets requests in flight finish, and ends those that are not done in time.
  package func drain(within limit: Duration) async {
    for (place, door) in boundSockets.enumerated() {
      await finishHandingOut(door)
      for channel in door.channels {
        // Connections in the queue of an inherited socket are for the next process.
        if door.isInherited { try? await channel.close().get() } else { await close(channel, place) }
      }
    }
    let deadline = TimeAmount(limit)
    // All loops at once: the limit is for the whole.
    let drained = sites.map { site in
      let done = site.eventLoop.makePromise(of: Void.self)
      site.eventLoop.execute {
        let contexts = site.entrances.value.map(\.context)
        let timer = site.eventLoop.scheduleTask(in: deadline) {
          for entrance in site.entrances.value { entrance.context.closeAll() }
        }
        var left = contexts.count
        for context in contexts {
          context.drain {
            left -= 1
            guard left == 0 else { return }
            timer.cancel()
            done.succeed()
          }
        }
      }
      return done.futureResult
    }
    for done in drained { try? await done.get() }
    await forEachEntrance { place, entrance in if place == 0 { entrance.context.closeUpstreams() } }
  }

  /// Stops accepting. Where one loop accepts for all, a connection on its way to another loop when the listener closes
  /// would be closed with it. So that loop stops accepting, and each takes what was handed to it.
  private func finishHandingOut(_ door: BoundSocket) async {
    guard door.channels.count < sites.count else { return }
    for channel in door.channels { try? await channel.setOption(.autoRead, value: false).get() }
    for site in sites { try? await site.eventLoop.submit {}.get() }
  }

  private func close(_ channel: any Channel, _ place: Int) async {
    let (use, entrances) = (use, sites.first { $0.eventLoop === channel.eventLoop }?.entrances)
    try? await channel.eventLoop.flatSubmit {
      ListeningSocket.close(channel, atMost: DescriptorBudget.process.room(for: use)) { child in
        do { try entrances?.value[place].receive(child) } catch { child.close(promise: nil) }
      }
    }.get()
  }

  /// The sessions that have an exchange under way, on any loop.
  package func sessionsUnderWay() async -> Set<ConnectionKey> {
    var sessions: Set<ConnectionKey> = []
    for site in sites {
      let more = try? await site.eventLoop.submit { site.entrances.value.map(\.context.sessionsUnderWay) }.get()
      for some in more ?? [] { sessions.formUnion(some) }
    }
    return sessions
  }

  /// Ends, on every loop, what still streams for these sessions. Returns when it has been done.
  package func endExchanges(of sessions: Set<ConnectionKey>) async {
    await forEachEntrance { _, entrance in entrance.context.endExchanges(of: sessions) }
  }
}
