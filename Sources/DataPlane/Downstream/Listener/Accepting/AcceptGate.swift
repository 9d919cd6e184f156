internal import NIOCore
internal import SocketTransport

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Accepts the connections of one listening socket, and pauses while no descriptor is left for another one; clients
/// wait in the backlog of the socket. Otherwise a failing accept would leave the listening socket readable, and the
/// event loop would spin. Used on the loop of its socket only.
final class AcceptGate {
  private let socket: ListeningSocket
  /// Receives the connections that stay on this loop.
  private let acceptor: ConnectionAcceptor
  /// Hands a connection to another loop, where one loop accepts for all; nil where each does for itself.
  private let handOut: ((ListeningSocket.Accepted) -> Void)?
  private let descriptors: DescriptorBudget
  private let use: DescriptorBudget.Use
  private let failures = AcceptFailures.process
  private var phase = Phase.open
  /// Whether nothing was accepted since the last shortage.
  private var isLate = false

  private enum Phase: Equatable {
    case open
    /// Nothing is accepted until the pause is over.
    case paused(Cause)
    case stopped
  }

  private enum Cause {
    /// No descriptor, or no memory, is left for a connection.
    case shortage
    case failure
  }

  private static let pauseLength = TimeAmount.milliseconds(100)

  init(
    _ socket: ListeningSocket, _ acceptor: ConnectionAcceptor, handOut: ((ListeningSocket.Accepted) -> Void)? = nil
  ) {
    self.socket = socket
    self.acceptor = acceptor
    self.handOut = handOut
    descriptors = acceptor.server.loop.descriptors
    use = acceptor.use
  }

  /// Accepts from now on. The socket holds the gate until it is closed.
  func start() { if !socket.accept({ [self] in acceptOne() }) { pause(for: .failure) } }

  /// Stops accepting for good.
  func stop() {
    change(to: .stopped)
    socket.pause()
  }

  /// Closes the socket. Connections in its queue are for another process that holds it, or are reset.
  func close() {
    stop()
    socket.close()
  }

  /// Serves what waits to be accepted, and closes the socket. Only for a socket that no other process holds: a shared
  /// one would stop accepting in the other process, too, and loses no connection when we close it.
  func closeServingRest() {
    stop()
    for accepted in socket.takeRest(atMost: descriptors.room(for: use)) { acceptor.receive(accepted) }
    socket.close()
  }

  /// One at a time: looking for a second costs a call of the system for each, and one is rarely there.
  private func acceptOne() {
    guard case .open = phase else { return }
    guard descriptors.room(for: use) > 0 else {
      descriptors.ranOut()
      return pause(for: .shortage)
    }
    do {
      guard let accepted = try socket.next() else { return }
      if isLate, use == .client { descriptors.acceptedLate() }
      isLate = false
      if let handOut { handOut(accepted) } else { acceptor.receive(accepted) }
    } catch {
      pause(for: cause(of: error))
    }
  }

  /// Counts a failed accept.
  /// - Returns: the cause of the pause after it.
  private func cause(of error: any Error) -> Cause {
    guard let code = (error as? IOError)?.errnoCode else { return .failure }
    switch code {
    case EMFILE:
      descriptors.ranOut()
      // The limit has changed, or other code has opened more descriptors than the reserve.
      descriptors.measure(sockets: 0)
    case ENFILE: descriptors.ranOut(of: .systemFiles)
    case ENOBUFS, ENOMEM: descriptors.ranOut(of: .memory)
    default:
      failures.failed(code)
      return .failure
    }
    return .shortage
  }

  private func pause(for cause: Cause) {
    if cause == .shortage { isLate = true }
    change(to: .paused(cause))
    socket.pause()
    let gate = NIOLoopBound(self, eventLoop: socket.loop)
    socket.loop.scheduleTask(in: Self.pauseLength) { gate.value.resume() }
  }

  private func resume() {
    guard case .paused = phase else { return }
    // Descriptors that others had open then may be closed by now.
    descriptors.measure(sockets: 0)
    guard descriptors.room(for: use) > 0 else { return pause(for: .shortage) }
    change(to: .open)
    // Without the system's memory to watch the socket, later: nobody else would resume it.
    if !socket.resume() { pause(for: .failure) }
  }

  private func change(to next: Phase) {
    let (wasShort, isShort) = (phase == .paused(.shortage), next == .paused(.shortage))
    phase = next
    if wasShort != isShort { descriptors.changePausedSockets(by: isShort ? 1 : -1) }
  }
}
