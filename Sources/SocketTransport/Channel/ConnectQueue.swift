internal import NIOCore

/// The attempts of one event loop to connect to a Unix socket whose queue is full, in the order in which they began:
/// under lasting load each would otherwise be overtaken by later ones. The system does not report room, so that the
/// first attempt is repeated, and after it the next ones, until the queue is full again.
///
/// Used on its loop only.
final class ConnectQueue {
  private let address: SocketAddress
  private let loop: SocketEventLoop
  private var waiting = CircularBuffer<ConnectingSocket>()
  private var pause = ConnectQueue.shortestPause

  /// Time until the next attempt: after one that was successful, and at most.
  private static let shortestPause = TimeAmount.milliseconds(2)
  private static let longestPause = TimeAmount.milliseconds(50)

  init(to address: SocketAddress, on loop: SocketEventLoop) {
    self.address = address
    self.loop = loop
    setTimer()
  }

  func append(_ socket: ConnectingSocket) { waiting.append(socket) }

  private func setTimer() {
    _ = loop.after(pause, onEnd: loopEnds, connectAgain)
  }

  /// Those that begin meanwhile wait for the next time.
  private func connectAgain() {
    var count = 0
    for _ in 0..<waiting.count {
      guard let first = waiting.first, first.connectAgain(to: address) else { break }
      waiting.removeFirst()
      count += 1
    }
    pause = count > 0 ? Self.shortestPause : min(pause * 2, Self.longestPause)
    if waiting.isEmpty { loop.connectQueues[address] = nil } else { setTimer() }
  }

  private func loopEnds() {
    loop.connectQueues[address] = nil
    for socket in waiting { socket.loopEnds() }
  }
}
