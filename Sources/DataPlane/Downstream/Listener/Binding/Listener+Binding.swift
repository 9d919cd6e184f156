internal import NIOCore
internal import SocketTransport

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

extension Listener {
  /// Binds every address without an inherited socket, and accepts.
  static func open(
    _ acceptors: [AcceptorSettings], _ sockets: InheritedSockets, loops: [LoopAcceptors]
  ) async throws -> [BoundSocket] {
    var boundSockets: [BoundSocket] = []
    for (place, acceptor) in acceptors.enumerated() {
      do {
        var socket: BoundSocket
        if let descriptor = sockets.take(for: acceptor) {
          socket = try await adopt(descriptor, acceptor.address, place, loops: loops)
        } else {
          let isShared = loops.count > 1 && isTaken(acceptor.address)
          let (gates, address) = try await bind(acceptor, place, loops: loops)
          socket = BoundSocket(gates: gates, isInherited: false, isShared: isShared, address: address)
        }
        socket.file = SocketFile(of: socket.address, isInherited: socket.isInherited)
        boundSockets.append(socket)
      } catch {
        for socket in boundSockets {
          socket.file?.remove()
          await closeAll(socket.gates)
        }
        if let error = ListenerError(acceptor.address, error) { throw error }
        throw error
      }
    }
    return boundSockets
  }

  /// Checks that an acceptor could be bound, without binding it.
  /// - Throws: ``ListenerError`` if a process listens on its address.
  package static func requireFree(_ acceptor: AcceptorSettings, _ sockets: InheritedSockets) throws(ListenerError) {
    guard !sockets.hold(acceptor) else { return }
    let isFree =
      switch acceptor.address {
      case .unix(let path): !isListening(path)
      case .ip: !isTaken(acceptor.address)
      }
    if !isFree { throw ListenerError(taken: acceptor.address) }
  }

  /// One loop accepts on an inherited socket and hands out, as on a Unix socket: there is only one descriptor's worth
  /// of connections, and two loops would be woken for each.
  private static func adopt(
    _ descriptor: CInt, _ wanted: BindAddress, _ place: Int, loops: [LoopAcceptors]
  ) async throws -> BoundSocket {
    guard let first = loops.first else { return BoundSocket(gates: [], isInherited: true, address: wanted) }
    let socket = try ListeningSocket.inherited(
      descriptor, isTCP: wanted.isIP, backlog: acceptQueue, on: first.eventLoop)
    var address = wanted
    if case .ip(let host, _) = wanted, let port = socket.port {
      address = .ip(host: host, port: UInt16(clamping: port))
    }
    return BoundSocket(
      gates: [try await accept(on: socket, place, first, handingOutTo: loops)], isInherited: true, address: address)
  }

  private static func bind(
    _ acceptor: AcceptorSettings, _ place: Int, loops: [LoopAcceptors]
  ) async throws -> ([NIOLoopBound<AcceptGate>], BindAddress) {
    switch acceptor.address {
    case .unix(let path):
      guard let first = loops.first else { return ([], acceptor.address) }
      guard !isListening(path) else { throw IOError(errnoCode: EADDRINUSE, reason: "bind") }
      try removeSocket(path)
      let socket = try ListeningSocket.bind(
        to: SocketAddress(unixDomainSocketPath: path), backlog: acceptQueue, isShared: false,
        isPrivate: acceptor.isPrivate, on: first.eventLoop)
      return ([try await accept(on: socket, place, first, handingOutTo: loops)], acceptor.address)
    case .ip(let host, let port):
      var gates: [NIOLoopBound<AcceptGate>] = []
      var bound = Int(port)
      do {
        for loop in loops {
          let socket = try ListeningSocket.bind(
            to: .makeAddressResolvingHost(host, port: bound), backlog: acceptQueue, isShared: loops.count > 1,
            on: loop.eventLoop)
          bound = socket.port ?? bound
          gates.append(try await accept(on: socket, place, loop, handingOutTo: [loop]))
        }
      } catch {
        await closeAll(gates)
        throw error
      }
      return (gates, .ip(host: host, port: UInt16(clamping: bound)))
    }
  }

  /// - Parameter loops: get the connections in turn.
  private static func accept(
    on socket: ListeningSocket, _ place: Int, _ loop: LoopAcceptors, handingOutTo loops: [LoopAcceptors]
  ) async throws -> NIOLoopBound<AcceptGate> {
    try await loop.eventLoop.submit {
      let gate = AcceptGate(socket, loop.acceptors.value[place], handOut: handOut(to: loops, from: loop, place))
      gate.start()
      return NIOLoopBound(gate, eventLoop: loop.eventLoop)
    }.get()
  }

  /// Deals connections out to `loops` in turn.
  /// - Returns: nil where there is one loop, which keeps all.
  private static func handOut(
    to loops: [LoopAcceptors], from own: LoopAcceptors, _ place: Int
  ) -> ((ListeningSocket.Accepted) -> Void)? {
    guard loops.count > 1 else { return nil }
    var turn = 0
    return { accepted in
      turn = (turn + 1) % loops.count
      let loop = loops[turn]
      if loop.eventLoop === own.eventLoop { return own.acceptors.value[place].receive(accepted) }
      loop.eventLoop.execute { loop.acceptors.value[place].receive(accepted) }
    }
  }

  private static func closeAll(_ gates: [NIOLoopBound<AcceptGate>]) async {
    for gate in gates { try? await gate.eventLoop.submit { gate.value.close() }.get() }
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

  /// Removes the socket that a process has left behind that listened there. No other file is touched.
  private static func removeSocket(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw NotASocketError() }
    guard unlink(path) == 0 else { throw IOError(errnoCode: errno, reason: "unlink") }
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
}
