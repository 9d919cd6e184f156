internal import HTTPWire
internal import Logging
package import NIOCore
internal import NIOPosix
internal import TLSTransport

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// What a listener needs to know besides its own settings. Called once for each event loop, on that loop.
package struct ListenerParts {
  package var gate: any RequestGate
  package var observer: any ExchangeObserver

  package init(gate: any RequestGate, observer: any ExchangeObserver) {
    self.gate = gate
    self.observer = observer
  }
}

/// One address that the gateway listens on, served by every event loop of its group.
///
/// Each loop has a socket of its own (`SO_REUSEPORT`), so that the kernel spreads connections and no loop hands any to
/// another. A Unix socket cannot be shared that way: there one loop accepts and hands out.
package final class Listener: Sendable {
  private let sites: [Site]
  private let admission: ConnectionAdmission
  private let channels: [any Channel]
  /// The address that is bound, with the port that the system chose.
  package let address: BindAddress

  /// One event loop with what its connections share.
  private struct Site: Sendable {
    let eventLoop: any EventLoop
    let context: NIOLoopBound<ServerContext>
    let entrance: NIOLoopBound<Entrance>
  }

  private init(
    sites: [Site], admission: ConnectionAdmission, channels: [any Channel], address: BindAddress
  ) {
    self.sites = sites
    self.admission = admission
    self.channels = channels
    self.address = address
  }

  /// Binds and serves.
  /// - Parameters:
  ///   - group: the event loops that serve it.
  ///   - parts: makes the gate and the observer of one loop.
  /// - Throws: what the system has against it.
  package static func start(
    _ terms: ListenerTerms, on group: any EventLoopGroup, parts: @escaping @Sendable (any EventLoop) -> ListenerParts
  ) async throws -> Listener {
    let settings = terms.settings
    let admission = ConnectionAdmission(wanted: settings.limits.connections, descriptors: DescriptorLimit.raised())
    var sites: [Site] = []
    for loop in group.makeIterator() {
      let site = try await loop.submit {
        let resources = LoopResources(eventLoop: loop)
        let parts = parts(loop)
        let context = ServerContext(loop: resources, gate: parts.gate, observer: parts.observer, terms: terms)
        let entrance = Entrance(context: context, admission: admission, terms: terms)
        return Site(
          eventLoop: loop, context: NIOLoopBound(context, eventLoop: loop),
          entrance: NIOLoopBound(entrance, eventLoop: loop))
      }.get()
      sites.append(site)
    }
    let channels: [any Channel]
    let address: BindAddress
    do {
      (channels, address) = try await bind(settings.address, sites: sites, group: group)
    } catch let error as IOError {
      throw ListenerProblem(address: settings.address, error: error)
    }
    return Listener(sites: sites, admission: admission, channels: channels, address: address)
  }

  private static func bind(
    _ address: BindAddress, sites: [Site], group: any EventLoopGroup
  ) async throws -> ([any Channel], BindAddress) {
    switch address {
    case .unix(let path):
      guard let first = sites.first else { return ([], address) }
      let channel = try await bootstrap(first, children: group, sites: sites)
        .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
      return ([channel], address)
    case .ip(let host, let port):
      var channels: [any Channel] = []
      var bound = Int(port)
      for site in sites {
        let channel = try await bootstrap(site, children: site.eventLoop, sites: [site])
          .serverChannelOption(
            ChannelOptions.Types.SocketOption(level: .socket, name: .reusePort), value: sites.count > 1 ? 1 : 0
          )
          .bind(host: host, port: bound).get()
        bound = channel.localAddress?.port ?? bound
        channels.append(channel)
      }
      return (channels, .ip(host: host, port: UInt16(clamping: bound)))
    }
  }

  private static func bootstrap(
    _ site: Site, children: any EventLoopGroup, sites: [Site]
  ) -> ServerBootstrap {
    let entrances = Dictionary(uniqueKeysWithValues: sites.map { (ObjectIdentifier($0.eventLoop), $0.entrance) })
    return ServerBootstrap(group: site.eventLoop, childGroup: children)
      .serverChannelOption(.backlog, value: 4_096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try entrances[ObjectIdentifier(channel.eventLoop)]?.value.receive(channel)
        }
      }
  }

  /// Puts other terms in the place of those that hold, loop after loop, between two requests of each. Requests under way
  /// end as they began; the next of the same connection goes by the new terms. The address stays, and so does whether
  /// there is TLS.
  /// - Parameter alongside: done on each loop in the same breath, so that gate and terms always go together.
  package func adopt(_ terms: ListenerTerms, alongside: @escaping @Sendable (any EventLoop) -> Void) async {
    admission.adopt(wanted: terms.settings.limits.connections)
    for site in sites {
      try? await site.eventLoop.submit {
        site.entrance.value.adopt(terms)
        site.context.value.adopt(terms)
        alongside(site.eventLoop)
      }.get()
    }
  }

  /// Accepts no more, lets what is in flight finish, and ends what is not done in time.
  package func drain(within limit: Duration) async {
    for channel in channels { try? await channel.close().get() }
    let deadline = TimeAmount(limit)
    // All loops at once: the limit is for the whole.
    let drained = sites.map { site in
      let done = site.eventLoop.makePromise(of: Void.self)
      site.eventLoop.execute {
        let timer = site.eventLoop.scheduleTask(in: deadline) { site.context.value.closeAll() }
        site.context.value.drain {
          timer.cancel()
          done.succeed()
        }
      }
      return done.futureResult
    }
    for (site, done) in zip(sites, drained) {
      try? await done.get()
      try? await site.eventLoop.submit { site.context.value.closeUpstreams() }.get()
    }
  }

  /// The sessions that have an exchange under way, on any loop.
  package func sessionsUnderWay() async -> Set<SessionTag> {
    var sessions: Set<SessionTag> = []
    for site in sites {
      sessions.formUnion((try? await site.eventLoop.submit { site.context.value.sessionsUnderWay }.get()) ?? [])
    }
    return sessions
  }

  /// Ends, on every loop, what still streams for these sessions. Returns when it has been done.
  package func endExchanges(of sessions: Set<SessionTag>) async {
    for site in sites {
      try? await site.eventLoop.submit { site.context.value.endExchanges(of: sessions) }.get()
    }
  }
}

/// The system does not let us listen.
package struct ListenerProblem: Error, CustomStringConvertible {
  package let address: BindAddress
  private let code: CInt
  private let reason: String

  init(address: BindAddress, error: IOError) {
    self.address = address
    code = error.errnoCode
    reason = String(cString: strerror(error.errnoCode))
  }

  package var description: String { "cannot listen on \(address): \(reason); \(remedy)" }

  private var remedy: String {
    switch code {
    case EADDRINUSE: "stop what listens there, or choose another address"
    case EACCES: "choose a port from 1024 up, or give the process CAP_NET_BIND_SERVICE, or mend the directory's mode"
    case EADDRNOTAVAIL: "choose an address that this machine has"
    default: "check the address"
    }
  }
}

extension NIOBSDSocket.Option {
  /// `SO_REUSEPORT`, which swift-nio does not name.
  fileprivate static let reusePort = NIOBSDSocket.Option(rawValue: SO_REUSEPORT)
}
