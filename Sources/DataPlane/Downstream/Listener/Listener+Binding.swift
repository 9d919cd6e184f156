internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

extension Listener {
  /// Binds every address without an inherited socket.
  static func open(
    _ acceptors: [AcceptorSettings], _ sockets: InheritedSockets, loops: [LoopAcceptors], group: any EventLoopGroup
  ) async throws -> [BoundSocket] {
    var boundSockets: [BoundSocket] = []
    for (place, acceptor) in acceptors.enumerated() {
      do {
        if let descriptor = try sockets.take(for: acceptor) {
          boundSockets.append(try await adopt(descriptor, acceptor.address, place, loops: loops, group: group))
        } else {
          let isShared = loops.count > 1 && isTaken(acceptor.address)
          let (channels, address) = try await bind(acceptor.address, place, loops: loops, group: group)
          boundSockets.append(
            BoundSocket(channels: channels, isInherited: false, isShared: isShared, address: address))
        }
      } catch {
        for socket in boundSockets { for channel in socket.channels { try? await channel.close().get() } }
        if let error = error as? IOError { throw ListenerError(address: acceptor.address, error: error) }
        throw error
      }
    }
    return boundSockets
  }

  /// One loop accepts on an inherited socket and hands out, as on a Unix socket: there is only one descriptor's worth
  /// of connections, and swift-nio takes a listening socket that wakes two loops for one connection for a mistake.
  private static func adopt(
    _ descriptor: CInt, _ wanted: BindAddress, _ place: Int, loops: [LoopAcceptors], group: any EventLoopGroup
  ) async throws -> BoundSocket {
    guard let first = loops.first else { return BoundSocket(channels: [], isInherited: true, address: wanted) }
    let channel = try await bootstrap(
      first, place, children: group, loops: loops, isTCP: wanted.isIP
    ).withBoundSocket(descriptor).get()
    // swift-nio has made the socket listen with its own default of 128, whatever the option says and the socket had.
    guard listen(descriptor, acceptQueue) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
    var address = wanted
    if case .ip(let host, _) = wanted, let port = channel.localAddress?.port {
      address = .ip(host: host, port: UInt16(clamping: port))
    }
    return BoundSocket(channels: [channel], isInherited: true, address: address)
  }

  private static func bind(
    _ address: BindAddress, _ place: Int, loops: [LoopAcceptors], group: any EventLoopGroup
  ) async throws -> ([any Channel], BindAddress) {
    switch address {
    case .unix(let path):
      guard let first = loops.first else { return ([], address) }
      // swift-nio removes the file that is there, also that of a process that listens on it.
      guard !isListening(path) else { throw IOError(errnoCode: EADDRINUSE, reason: "bind") }
      let channel = try await bootstrap(first, place, children: group, loops: loops, isTCP: false)
        .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
      return ([channel], address)
    case .ip(let host, let port):
      var channels: [any Channel] = []
      var bound = Int(port)
      for loop in loops {
        let channel = try await bootstrap(loop, place, children: loop.eventLoop, loops: [loop], isTCP: true)
          .serverChannelOption(
            ChannelOptions.Types.SocketOption(level: .socket, name: .reusePort), value: loops.count > 1 ? 1 : 0
          )
          .bind(host: host, port: bound).get()
        bound = channel.localAddress?.port ?? bound
        channels.append(channel)
      }
      return (channels, .ip(host: host, port: UInt16(clamping: bound)))
    }
  }

  /// Whether a process listens on an address: asked with a socket that does not share it.
  private static func isTaken(_ address: BindAddress) -> Bool {
    guard case .ip(let host, let port) = address, port != 0,
      let address = try? SocketAddress(ipAddress: host, port: Int(port))
    else { return false }
    return address.withSockAddr { pointer, length in
      let descriptor = socket(CInt(pointer.pointee.sa_family), streamSocket, 0)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      // Connections of an earlier process that are still being closed do not count.
      var on: CInt = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
      return systemBind(descriptor, pointer, socklen_t(length)) != 0 && errno == EADDRINUSE
    }
  }

  /// Whether a process listens on a Unix socket. A file that one has left behind refuses connections.
  private static func isListening(_ path: String) -> Bool {
    guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return false }
    return address.withSockAddr { pointer, length in
      let descriptor = socket(CInt(pointer.pointee.sa_family), streamSocket, 0)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      // A connection to a full queue would wait for ever, with a limit it fails.
      var limit = timeval(tv_sec: 0, tv_usec: 100_000)
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      return connect(descriptor, pointer, socklen_t(length)) == 0 || errno == EAGAIN
    }
  }

  #if canImport(Glibc)
    private static let streamSocket = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    private static func systemBind(_ socket: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
      Glibc.bind(socket, address, length)
    }
  #elseif canImport(Musl)
    private static let streamSocket = SOCK_STREAM | SOCK_CLOEXEC
    private static func systemBind(_ socket: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
      Musl.bind(socket, address, length)
    }
  #endif

  /// Connections that may wait to be accepted; the system's `net.core.somaxconn` (4,096) is the most that it grants.
  private static let acceptQueue: CInt = 4_096

  private static func bootstrap(
    _ loop: LoopAcceptors, _ place: Int, children: any EventLoopGroup, loops: [LoopAcceptors], isTCP: Bool
  ) -> ServerBootstrap {
    let acceptors = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.eventLoop), $0.acceptors) })
    var bootstrap = ServerBootstrap(group: loop.eventLoop, childGroup: children)
    if isTCP {
      for (option, value) in KeepAlive.options { bootstrap = bootstrap.serverChannelOption(option, value: value) }
    }
    return
      bootstrap
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptGate(loop.acceptors.value[place]))
        }
      }
      .serverChannelOption(.backlog, value: acceptQueue)
      // Looking for a second connection costs a call of the system for each, and one is rarely there.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try acceptors[ObjectIdentifier(channel.eventLoop)]?.value[place].receive(channel)
        }
      }
  }
}

/// The system does not let us listen.
package struct ListenerError: Error, CustomStringConvertible {
  package let address: BindAddress
  private let code: CInt
  private let reason: String

  init(address: BindAddress, error: IOError) {
    self.address = address
    code = error.errnoCode
    reason = String(cString: strerror(error.errnoCode))
  }

  package var description: String { "cannot listen on \(address): \(reason); \(remedy)" }

  /// Whether this process may not listen there: another attempt fails, too, until somebody changes a permission or the
  /// address.
  package var isPermission: Bool { code == EACCES || code == EPERM }

  private var remedy: String {
    switch code {
    case EADDRINUSE: "stop what listens there, or choose another address"
    case EACCES, EPERM:
      address.isIP
        ? "choose a port from 1024 up; with systemd use cordon.socket, or the capability lines in cordon.service"
        : "let this user write to the socket's directory, or choose another path"
    case EADDRNOTAVAIL: "choose an address that this machine has"
    default: "check the address"
    }
  }
}

extension NIOBSDSocket.Option {
  /// `SO_REUSEPORT`, which swift-nio does not name.
  fileprivate static let reusePort = NIOBSDSocket.Option(rawValue: SO_REUSEPORT)
}
