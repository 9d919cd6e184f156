import Glibc
import NIOCore
import Synchronization
import Testing

@testable import SocketTransport

/// The other end of a connection, or a socket to connect to: plain calls of the system that do not block.
final class Peer: Sendable {
  let descriptor: CInt
  private let sawReset = Atomic<Bool>(false)

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit { Glibc.close(descriptor) }

  /// - Returns: how many bytes the system has taken.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Int { Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) }

  @discardableResult
  func send(_ text: String) -> Int { send(Array(text.utf8)) }

  /// Sends the last byte of `text` as TCP's urgent data (RFC 9293, 3.8.5).
  @discardableResult
  func sendUrgent(_ text: String) -> Int {
    Glibc.send(descriptor, Array(text.utf8), text.utf8.count, CInt(MSG_NOSIGNAL) | CInt(MSG_OOB))
  }

  static func connected(to address: SocketAddress) throws -> Peer {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    // A size that does not grow: by itself the system may come to have room for all that a test sends.
    var room: CInt = 262_144
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size))
    let isConnected = address.withSockAddr { pointer, length in connect(descriptor, pointer, socklen_t(length)) == 0 }
    try #require(isConnected)
    return Peer(descriptor)
  }

  /// The bytes that have come; nil at the end or after a reset, if nothing came before it.
  func received(atMost limit: Int = .max) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < limit {
      let count = recv(descriptor, &piece, min(piece.count, limit - bytes.count), 0)
      if count > 0 {
        bytes += piece[..<count]
      } else {
        let isLater = count < 0 && errno == EAGAIN
        if count < 0, !isLater { sawReset.store(true, ordering: .relaxed) }
        return bytes.isEmpty && !isLater ? nil : bytes
      }
    }
    return bytes
  }

  /// Whether what was received ended with a reset.
  var wasReset: Bool { sawReset.load(ordering: .relaxed) }

  func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

  func endBoth() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  func close() {
    // The number stays taken until the end of the test.
    let other = open("/dev/null", O_RDWR)
    dup2(other, descriptor)
    Glibc.close(other)
  }

  /// Closes with a reset instead of an end (socket(7), SO_LINGER).
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close()
  }
}

/// A pair of Unix sockets that do not block.
func unixPair() throws -> (CInt, CInt) {
  var pair: [CInt] = [-1, -1]
  try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
  return (pair[0], pair[1])
}

/// A pair of TCP sockets on loopback, of which the first does not block.
func tcpPair() throws -> (own: CInt, peer: Peer) {
  let (listener, address) = try plainListener(backlog: 1)
  defer { close(listener) }
  let peer = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  let isConnected = address.withSockAddr { pointer, length in connect(peer, pointer, socklen_t(length)) == 0 }
  try #require(isConnected)
  let own = accept(listener, nil, nil)
  try #require(own >= 0)
  _ = fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK)
  return (own, Peer(peer))
}

/// A plain socket that listens on loopback.
func plainListener(backlog: CInt) throws -> (descriptor: CInt, address: SocketAddress) {
  let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  let isBound = try SocketAddress(ipAddress: "127.0.0.1", port: 0).withSockAddr { pointer, length in
    bind(descriptor, pointer, socklen_t(length)) == 0 && listen(descriptor, backlog) == 0
  }
  try #require(isBound)
  return (descriptor, try SystemSocket.localAddress(descriptor))
}
