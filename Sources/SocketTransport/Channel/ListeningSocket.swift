package import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A socket that listens, on one event loop. It asks its owner to accept for as long as connections wait.
package final class ListeningSocket: PolledDescriptor, Sendable {
  /// A connection that was accepted. Its holder closes it.
  package struct Accepted: Sendable {
    let descriptor: CInt
    /// Nil of a Unix socket.
    let peer: SocketAddress?

    /// Takes the descriptor over.
    package init(descriptor: CInt, peer: SocketAddress?) {
      self.descriptor = descriptor
      self.peer = peer
    }
  }

  /// The loop that accepts.
  package let loop: SocketEventLoop
  private let descriptor: CInt
  nonisolated(unsafe) private var phase = Phase.paused
  /// Called on the loop while a connection waits.
  nonisolated(unsafe) private var onReady: () -> Void = {}

  private enum Phase {
    /// Connections wait in the queue.
    case paused
    case accepting
    case closed
  }

  private init(_ descriptor: CInt, on loop: SocketEventLoop) {
    self.descriptor = descriptor
    self.loop = loop
  }

  /// A socket that accepts is held by its loop.
  deinit { if case .paused = phase { SystemSocket.close(descriptor) } }

  // MARK: Creation

  /// Binds an address and listens. Nothing is accepted before ``accept(_:)``.
  /// - Parameters:
  ///   - backlog: connections that may wait to be accepted; the system's `net.core.somaxconn` is the most.
  ///   - isShared: whether other sockets may be bound to the same address, among which the system divides connections.
  ///   - isPrivate: whether a Unix socket is for the user of this process only (mode 0600); else the umask decides.
  /// - Throws: `IOError`.
  package static func bind(
    to address: SocketAddress, backlog: CInt, isShared: Bool, isPrivate: Bool = false, on loop: SocketEventLoop
  ) throws -> ListeningSocket {
    let descriptor = try SystemSocket.open(address.protocol)
    do {
      SystemSocket.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      if isShared { SystemSocket.set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
      if address.protocol != .unix { KeepAlive.apply(to: descriptor) }
      try SystemSocket.listen(descriptor, on: address, backlog: backlog, isPrivate: isPrivate)
    } catch {
      SystemSocket.close(descriptor)
      throw error
    }
    return ListeningSocket(descriptor, on: loop)
  }

  /// Takes a socket over that listens, and that the process was started with.
  /// - Parameter isTCP: whether it is not a Unix socket.
  /// - Throws: `IOError`.
  package static func inherited(
    _ descriptor: CInt, isTCP: Bool, backlog: CInt, on loop: SocketEventLoop
  ) throws -> ListeningSocket {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
      throw IOError(errnoCode: errno, reason: "fcntl")
    }
    if isTCP {
      SystemSocket.configureTCP(descriptor)
      KeepAlive.apply(to: descriptor)
    }
    try SystemSocket.listen(descriptor, backlog: backlog)
    return ListeningSocket(descriptor, on: loop)
  }

  /// The port that is bound; nil of a Unix socket.
  package var port: Int? { try? SystemSocket.localAddress(descriptor).port }

  // MARK: Use on its event loop

  /// Calls `onReady` while a connection waits, from now on.
  /// - Parameter onReady: held until the socket is closed.
  /// - Returns: whether it will be called; see ``resume()``.
  package func accept(_ onReady: @escaping () -> Void) -> Bool {
    self.onReady = onReady
    return resume()
  }

  /// Accepts no longer, until ``resume()``: connections wait in the backlog of the system.
  package func pause() {
    guard case .accepting = phase else { return }
    phase = .paused
    loop.remove(descriptor)
  }

  /// Accepts again.
  /// - Returns: whether it does; false if the system has no room to watch the socket, and once the socket is closed.
  package func resume() -> Bool {
    switch phase {
    case .accepting: return true
    case .closed: return false
    case .paused:
      guard (try? loop.register(self, descriptor, for: .input)) != nil else { return false }
      phase = .accepting
      return true
    }
  }

  /// Accepts a connection.
  /// - Returns: nil if none waits.
  /// - Throws: `IOError`.
  package func next() throws -> Accepted? {
    if case .closed = phase { return nil }
    return try SystemSocket.accept(descriptor)
  }

  /// Drops packets to the socket from now on, and returns what waits to be accepted. Closing it at once would reset
  /// those connections, although another process may listen as well.
  /// - Parameter limit: at most so many.
  package func takeRest(atMost limit: Int) -> [Accepted] {
    if case .closed = phase { return [] }
    pause()
    SocketFilter.dropEverything(at: descriptor)
    var rest: [Accepted] = []
    while rest.count < limit, let next = try? SystemSocket.accept(descriptor) { rest.append(next) }
    return rest
  }

  /// Closes the socket, and resets the connections that wait to be accepted. May be called again.
  package func close() {
    if case .closed = phase { return }
    pause()
    phase = .closed
    SystemSocket.close(descriptor)
    onReady = {}
  }

  func ready(_ readiness: Readiness) { onReady() }

  func loopEnds() { close() }
}

/// Makes a listening socket deaf.
private enum SocketFilter {
  /// No packet reaches the socket from now on: a client's SYN is lost, is sent again by its system a second later, and
  /// is then another socket's. Where that cannot be had (a Unix socket), the last moment stays as short as it is.
  static func dropEverything(at socket: CInt) {
    // One instruction of classic BPF (linux/filter.h): BPF_RET | BPF_K, 0 bytes.
    withUnsafePointer(to: Instruction(code: 0x06, ifTrue: 0, ifFalse: 0, value: 0)) { instruction in
      var program = Program(count: 1, instructions: instruction)
      _ = setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout<Program>.size))
    }
  }

  /// `struct sock_filter`.
  private struct Instruction {
    let code: UInt16
    let ifTrue: UInt8
    let ifFalse: UInt8
    let value: UInt32
  }

  /// `struct sock_fprog`.
  private struct Program {
    let count: UInt16
    let instructions: UnsafePointer<Instruction>
  }
}
