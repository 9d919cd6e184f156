import NIOCore
import Synchronization
import Testing
import WaitingTesting

@testable import SocketTransport

/// The events of a channel, as its last handler sees them.
final class Recorder: ChannelDuplexHandler, SocketReader, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  struct Seen {
    var bytes: [UInt8] = []
    var events: [String] = []
    /// The number of reads that it is within.
    var depth = 0
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
    seen.withLock { seen in
      if seen.depth > 0 { seen.events.append("read within a read") }
      seen.depth += 1
      seen.bytes += buffer.readableBytesView
    }
    onEvent("bytes", channel)
    seen.withLock { $0.depth -= 1 }
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
  ///   - opens: whether the channel is opened.
  ///   - first: done by the peer before the channel is opened.
  ///   - before: done to the channel before it is opened, on the loop.
  static func make(
    _ kind: Kind = .tcp, on loop: SocketEventLoop, isDirect: Bool = false, readsByItself: Bool = true,
    halfCloses: Bool = true, opens: Bool = true, first: (Peer) throws -> Void = { _ in },
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
    try first(peer)
    return try await loop.submit {
      let channel = SocketChannel(ListeningSocket.Accepted(descriptor: own, peer: address), on: loop)
      channel.allowsRemoteHalfClosure = halfCloses
      let recorder = Recorder(channel, readsByItself: readsByItself, onEvent: onEvent)
      try channel.pipeline.syncOperations.addHandler(recorder)
      if isDirect { channel.reader = recorder }
      before(channel)
      if opens { channel.open() }
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
    try await eventually("\(count) events, not \(recorder.events)") { recorder.events.count >= count }
    return recorder.events
  }

  /// Bytes that the peer gets, so many of them.
  func peerReceives(_ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    try await eventually("\(count) bytes") {
      bytes += peer.received(atMost: count - bytes.count) ?? []
      return bytes.count >= count
    }
    return bytes
  }

  /// Everything that the peer gets up to the end.
  /// - Throws: ``EndedByReset``.
  func peerReceivesToEnd() async throws -> [UInt8] {
    var bytes: [UInt8] = []
    try await eventually("the end") {
      guard let more = peer.received() else { return true }
      bytes += more
      return false
    }
    if peer.wasReset { throw EndedByReset() }
    return bytes
  }
}

struct EndedByReset: Error {}
