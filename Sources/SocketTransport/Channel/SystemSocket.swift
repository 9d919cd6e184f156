internal import CLinux
internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The system's calls for stream sockets that do not block.
enum SystemSocket {
  private static let kind = CInt(SOCK_STREAM.rawValue) | flags
  private static let flags = CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)

  /// A socket for addresses of `family`, with the options of ``configureTCP(_:)``.
  /// - Throws: `IOError`.
  static func open(_ family: NIOBSDSocket.ProtocolFamily) throws -> CInt {
    let descriptor = socket(family.rawValue, kind, 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    if family != .unix { configureTCP(descriptor) }
    return descriptor
  }

  /// Has small messages leave at once (TCP_NODELAY), and urgent bytes stay in their place: a byte of a message is not
  /// to be lost because its sender calls it urgent (RFC 6093, 6). Accepted sockets have both from the listening one.
  static func configureTCP(_ descriptor: CInt) {
    set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    set(descriptor, SOL_SOCKET, SO_OOBINLINE, 1)
  }

  /// Sets an option, where the system has it.
  static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
    var value = value
    _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
  }

  /// The state of an attempt to connect.
  enum ConnectProgress {
    case connected
    /// The system reports the end of it.
    case underWay
    /// The queue of a listening Unix socket is full. The attempt is over, and the system does not report room.
    case queueFull
  }

  /// - Throws: `IOError`.
  static func connect(_ descriptor: CInt, to address: SocketAddress) throws -> ConnectProgress {
    let code = address.withSockAddr { pointer, length in
      systemConnect(descriptor, pointer, socklen_t(length)) == 0 ? 0 : errno
    }
    switch code {
    case 0: return .connected
    case EINPROGRESS: return .underWay
    case EAGAIN where address.protocol == .unix: return .queueFull
    default: throw IOError(errnoCode: code, reason: "connect")
    }
  }

  /// Binds and listens.
  /// - Parameter isPrivate: whether a Unix socket is for the user of this process only. Its mode is set before it
  ///   listens, so that nobody else can have connected. The umask is no means to that: it is that of all threads.
  /// - Throws: `IOError`.
  static func listen(_ descriptor: CInt, on address: SocketAddress, backlog: CInt, isPrivate: Bool) throws {
    let result = address.withSockAddr { pointer, length in systemBind(descriptor, pointer, socklen_t(length)) }
    guard result == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
    // Not by the descriptor: fchmod(2) of a socket does not change its file.
    if isPrivate, let path = address.pathname, chmod(path, 0o600) != 0 {
      throw IOError(errnoCode: errno, reason: "chmod")
    }
    try listen(descriptor, backlog: backlog)
  }

  /// Also of a socket that listens: its queue is as long as this says from then on.
  /// - Throws: `IOError`.
  static func listen(_ descriptor: CInt, backlog: CInt) throws {
    guard systemListen(descriptor, backlog) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
  }

  /// Accepts a connection.
  /// - Returns: nil if none waits, or the one that did has left.
  /// - Throws: `IOError`.
  static func accept(_ listener: CInt) throws -> ListeningSocket.Accepted? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let descriptor = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { accept4(listener, $0, &length, flags) }
    }
    guard descriptor < 0 else { return ListeningSocket.Accepted(descriptor: descriptor, peer: ipAddress(storage)) }
    switch errno {
    case EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED: return nil
    // Errors of the network on the new socket (accept(2)): that connection is gone, others are not.
    case ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH: return nil
    default: throw IOError(errnoCode: errno, reason: "accept4")
    }
  }

  /// `send(2)`.
  @inline(__always)
  static func sendBytes(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
  }

  static let sendFlags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)

  /// `recv(2)`, again after an interruption.
  @inline(__always)
  static func receiveBytes(_ descriptor: CInt, _ space: UnsafeMutableRawBufferPointer, flags: CInt = 0) -> Int {
    while true {
      let count = recv(descriptor, space.baseAddress, space.count, CInt(MSG_DONTWAIT) | flags)
      if count >= 0 || errno != EINTR { return count }
    }
  }

  /// The error that the socket has met, 0 for none, and forgets it.
  static func takeError(_ descriptor: CInt) -> CInt {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
  }

  static func endOutput(_ descriptor: CInt) { _ = shutdown(descriptor, CInt(SHUT_WR)) }

  static func close(_ descriptor: CInt) { _ = systemClose(descriptor) }

  /// Has the close of a TCP socket reset the connection, in the place of ending it in order.
  static func resetOnClose(_ descriptor: CInt) {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Bytes in the send queue (SIOCOUTQ, which is TIOCOUTQ).
  static func unacknowledgedBytes(_ descriptor: CInt) -> Int {
    var count: CInt = 0
    _ = ioctl(descriptor, UInt(TIOCOUTQ), &count)
    return Int(max(0, count))
  }

  // MARK: Addresses

  static func localAddress(_ descriptor: CInt) throws -> SocketAddress {
    try address(descriptor) { getsockname($0, $1, $2) }
  }

  static func peerAddress(_ descriptor: CInt) throws -> SocketAddress {
    try address(descriptor) { getpeername($0, $1, $2) }
  }

  private static func address(
    _ descriptor: CInt, _ ask: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) throws -> SocketAddress {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) }
    }
    guard result == 0, let address = ipAddress(storage) else { throw ChannelError.unknownLocalAddress }
    return address
  }

  /// - Returns: nil for other families.
  private static func ipAddress(_ storage: sockaddr_storage) -> SocketAddress? {
    withUnsafeBytes(of: storage) { bytes in
      switch CInt(storage.ss_family) {
      case AF_INET: SocketAddress(bytes.load(as: sockaddr_in.self), host: "")
      case AF_INET6: SocketAddress(bytes.load(as: sockaddr_in6.self), host: "")
      default: nil
      }
    }
  }
}

// The system's functions with names that this module uses otherwise.
#if canImport(Glibc)
  private let systemConnect = Glibc.connect
  private let systemBind = Glibc.bind
  private let systemListen = Glibc.listen
  private let systemClose = Glibc.close
#elseif canImport(Musl)
  private let systemConnect = Musl.connect
  private let systemBind = Musl.bind
  private let systemListen = Musl.listen
  private let systemClose = Musl.close
#endif
