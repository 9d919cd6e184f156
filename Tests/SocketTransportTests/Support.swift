import Foundation
import Glibc
import NIOCore
import Synchronization
import Testing

@testable import SocketTransport

/// Time for whatever takes no time on a machine that does nothing else.
let patience = TimeAmount.seconds(60)

func withLoop(_ body: (SocketEventLoop) async throws -> Void) async throws {
  let group = try SocketEventLoopGroup(loops: 1)
  var failure: (any Error)?
  do { try await body(group.loops[0]) } catch { failure = error }
  try await group.shutdownGracefully()
  if let failure { throw failure }
}

/// The other end of a connection, or a socket to connect to: plain calls of the system that do not block.
final class Peer: Sendable {
  let descriptor: CInt

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit { close(descriptor) }

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
        return bytes.isEmpty && (count == 0 || errno != EAGAIN) ? nil : bytes
      }
    }
    return bytes
  }

  func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

  func endBoth() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  /// Closes with a reset instead of an end (socket(7), SO_LINGER).
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    // The number stays taken until the end of the test.
    let other = open("/dev/null", O_RDWR)
    dup2(other, descriptor)
    close(other)
  }
}

/// Waits for a condition, looked at again and again between other tasks.
func poll(
  _ what: Comment, for patience: TimeAmount = patience, _ condition: () async throws -> Bool
) async throws {
  let end = NIODeadline.now() + patience
  while try await !condition() {
    guard NIODeadline.now() < end else { throw WaitedInVain(what: what) }
    await Task.yield()
  }
}

struct WaitedInVain: Error {
  let what: Comment
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

/// A listener on loopback whose queue is full: connections to it stay on their way, since it drops their packets.
final class FullListener: Sendable {
  let address: SocketAddress
  private let descriptors: [CInt]

  init() throws {
    let (listener, address) = try plainListener(backlog: 0)
    self.address = address
    var descriptors = [listener]
    var isFull = false
    for _ in 0..<8 where !isFull {
      // A child of another test must not keep it open.
      let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(AF_INET, kind, 0)
      _ = address.withSockAddr { pointer, length in connect(descriptor, pointer, socklen_t(length)) }
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      isFull = Glibc.poll(&entry, 1, 200) == 0
      if isFull { close(descriptor) } else { descriptors.append(descriptor) }
    }
    self.descriptors = descriptors
    try #require(isFull)
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// Sockets of this machine that are connecting to it: SYN_SENT in proc_net_tcp(5).
  func connectingCount() throws -> Int {
    // Foundation reads a file that says that it is empty to its end only by a handle.
    let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
    defer { try? file?.close() }
    let table = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
    let suffix = String(format: ":%04X", address.port ?? 0)
    let sockets = table.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      return words.count > 3 && words[2].hasSuffix(suffix) && words[3] == "02" ? words[1] : nil
    }
    // By their own addresses: while others come and go, the system may show one twice.
    return Set(sockets).count
  }
}

/// A pair of Unix sockets that do not block.
func unixPair() throws -> (CInt, CInt) {
  var pair: [CInt] = [-1, -1]
  try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
  return (pair[0], pair[1])
}

/// Bytes that show their place.
func pattern(_ count: Int, seed: Int = 0) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 / 251 + seed) } }

/// A pair of TCP sockets on loopback.
func tcpPair() throws -> (own: CInt, peer: Peer) {
  let (own, peer) = try tcpDescriptors()
  return (own, Peer(peer))
}

/// The same as descriptors, of which the first does not block.
func tcpDescriptors() throws -> (own: CInt, peer: CInt) {
  let (listener, address) = try plainListener(backlog: 1)
  defer { close(listener) }
  let peer = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  let isConnected = address.withSockAddr { pointer, length in connect(peer, pointer, socklen_t(length)) == 0 }
  try #require(isConnected)
  let own = accept(listener, nil, nil)
  try #require(own >= 0)
  _ = fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK)
  return (own, peer)
}

/// The events of a channel, as its last handler sees them.
final class Recorder: ChannelDuplexHandler, SocketReader, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  struct Seen {
    var bytes: [UInt8] = []
    var events: [String] = []
  }

  let seen = Mutex(Seen())
  /// Whether each read that the channel asks for by itself is passed on.
  let readsByItself: Bool
  /// Called with the channel when something is seen, on the loop.
  let onEvent: @Sendable (String, SocketChannel) -> Void
  private let channel: SocketChannel

  init(
    _ channel: SocketChannel, readsByItself: Bool = true,
    onEvent: @escaping @Sendable (String, SocketChannel) -> Void = { _, _ in }
  ) {
    self.channel = channel
    self.readsByItself = readsByItself
    self.onEvent = onEvent
  }

  var bytes: [UInt8] { seen.withLock(\.bytes) }
  var text: String { String(decoding: bytes, as: UTF8.self) }
  var events: [String] { seen.withLock(\.events) }

  private func note(_ event: String) {
    seen.withLock { $0.events.append(event) }
    onEvent(event, channel)
  }

  private func take(_ buffer: ByteBuffer) {
    seen.withLock { $0.bytes += buffer.readableBytesView }
    onEvent("bytes", channel)
  }

  func channelActive(context: ChannelHandlerContext) { note("active") }
  func channelInactive(context: ChannelHandlerContext) { note("inactive") }
  func channelUnregistered(context: ChannelHandlerContext) { note("unregistered") }
  func handlerRemoved(context: ChannelHandlerContext) { note("removed") }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { take(unwrapInboundIn(data)) }
  func channelReadComplete(context: ChannelHandlerContext) { onEvent("complete", channel) }
  func read(context: ChannelHandlerContext) { if readsByItself { context.read() } }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { note("error") }
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    note(context.channel.isWritable ? "writable" : "not writable")
  }
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event as? ChannelEvent {
    case .inputClosed?: note("input closed")
    case .outputClosed?: note("output closed")
    default: note("\(event)")
    }
  }

  func socketRead(_ bytes: consuming ByteBuffer) { take(bytes) }
  func socketReadComplete() -> Bool {
    onEvent("complete", channel)
    return readsByItself
  }
}

/// A channel on one end of a connection.
struct ChannelRig: Sendable {
  enum Kind: CaseIterable {
    case tcp, unix
  }

  let channel: SocketChannel
  let peer: Peer
  let recorder: Recorder

  var loop: any EventLoop { channel.eventLoop }

  /// - Parameters:
  ///   - isDirect: whether bytes come past the pipeline.
  ///   - before: done to the channel before it is opened, on the loop.
  static func make(
    _ kind: Kind = .tcp, on loop: SocketEventLoop, isDirect: Bool = false, readsByItself: Bool = true,
    halfCloses: Bool = true, first: String = "",
    before: @escaping @Sendable (SocketChannel) -> Void = { _ in },
    onEvent: @escaping @Sendable (String, SocketChannel) -> Void = { _, _ in }
  ) async throws -> ChannelRig {
    let own: CInt
    let peer: Peer
    let address: SocketAddress?
    switch kind {
    case .tcp:
      (own, peer) = try tcpPair()
      address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
    case .unix:
      let pair = try unixPair()
      (own, peer) = (pair.0, Peer(pair.1))
      address = nil
    }
    peer.send(first)
    return try await loop.submit {
      let channel = SocketChannel(ListeningSocket.Accepted(descriptor: own, peer: address), on: loop)
      channel.allowsRemoteHalfClosure = halfCloses
      let recorder = Recorder(channel, readsByItself: readsByItself, onEvent: onEvent)
      try channel.pipeline.syncOperations.addHandler(recorder)
      if isDirect { channel.reader = recorder }
      before(channel)
      channel.open()
      return ChannelRig(channel: channel, peer: peer, recorder: recorder)
    }.get()
  }

  /// Performs `body` on the loop.
  @discardableResult
  func onLoop<Result: Sendable>(_ body: @escaping @Sendable (SocketChannel) throws -> Result) async throws -> Result {
    try await loop.submit { [channel] in try body(channel) }.get()
  }

  /// Waits until a number of events has been seen.
  func events(_ count: Int) async throws -> [String] {
    try await poll("\(count) events, not \(recorder.events)") { recorder.events.count >= count }
    return recorder.events
  }

  /// Bytes that the peer gets, so many of them.
  func peerReceives(_ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    try await poll("\(count) bytes") {
      bytes += peer.received(atMost: count - bytes.count) ?? []
      return bytes.count >= count
    }
    return bytes
  }
}

extension [UInt8] {
  var buffer: ByteBuffer { ByteBuffer(bytes: self) }
  /// For expectations: from `==` of large arrays that differ they compute all differences, which takes hours.
  func matches(_ other: [UInt8]) -> Bool { self == other }
}
