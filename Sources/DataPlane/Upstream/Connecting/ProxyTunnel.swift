internal import NIOCore
package import Secrets
internal import WebFormats

/// An HTTP proxy that connections to an origin are made through, by CONNECT (RFC 9110, 9.3.6). It learns host and port;
/// TLS is spoken with the origin.
package struct ConnectProxy: Sendable, Equatable {
  /// A name, an IPv4 address, or an IPv6 address without brackets.
  package var host: String
  /// The proxy's port, 1 to 65535.
  package var port: UInt16
  /// The value of `Proxy-Authorization`. Default: nil: none.
  package var authorization: Secret<Authorization>?

  /// Marks the value of `Proxy-Authorization`.
  package enum Authorization {}

  /// A proxy that is spoken to in cleartext, with credentials or without.
  package init(host: String, port: UInt16, authorization: Secret<Authorization>? = nil) {
    self.host = host
    self.port = port
    self.authorization = authorization
  }

  var address: UpstreamAddress { .tcp(host: host, port: port, tls: false) }

  /// The request for a tunnel to `host` and `port`.
  func request(_ host: String, _ port: UInt16) -> ByteBuffer {
    let authority = "\(Host.bracketed(host)):\(port)"
    var request = ByteBuffer(string: "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n")
    if let authorization {
      request.writeString("Proxy-Authorization: ")
      request.writeBytes(authorization.exposedBytes)
      request.writeString("\r\n")
    }
    request.writeString("\r\n")
    return request
  }
}

/// The proxy's reply to CONNECT, as it arrives.
struct ProxyReply {
  private var bytes: [UInt8] = []

  /// Most bytes of the reply's head.
  static let limit = 8_192

  enum Outcome: Equatable {
    /// The head is not complete.
    case incomplete
    case connected
    /// The reason that there is no tunnel.
    case refused(String)
  }

  mutating func append(_ more: some Sequence<UInt8>) -> Outcome {
    bytes += more
    guard let end = endOfHead else {
      return bytes.count > Self.limit ? .refused("the proxy's reply has more than \(Self.limit) bytes") : .incomplete
    }
    guard end <= Self.limit else { return .refused("the proxy's reply has more than \(Self.limit) bytes") }
    let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    guard let status = Self.status(line) else { return .refused("the proxy's reply is not HTTP/1") }
    guard (200..<300).contains(status) else { return .refused("the proxy answered \"\(Self.shown(line))\"") }
    // Whatever came before the origin was spoken to is not the origin's.
    guard end == bytes.count else { return .refused("the proxy sent data before the connection was used") }
    return .connected
  }

  private var endOfHead: Int? {
    let mark: [UInt8] = [13, 10, 13, 10]
    guard bytes.count >= mark.count else { return nil }
    return (0...(bytes.count - mark.count)).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
      .map { $0 + mark.count }
  }

  /// The status of `HTTP/1.x NNN …`.
  private static func status(_ line: ArraySlice<UInt8>) -> Int? {
    let line = Array(line)
    guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), line[7].isASCIIDigit, line[8] == 0x20,
      line.count == 12 || line[12] == 0x20
    else { return nil }
    return DecimalDigits.parse(line[9...11], limit: 999)
  }

  /// The line for a log: foreign bytes are shortened, and control characters replaced.
  private static func shown(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.prefix(100).map { (0x20..<0x7F).contains($0) && $0 != 0x22 ? $0 : 0x3F }, as: UTF8.self)
  }
}

/// The reason that a proxy made no tunnel.
struct ProxyTunnelError: Error, CustomStringConvertible {
  let description: String
}

/// Asks the proxy at the other end of a channel for a tunnel, and leaves the pipeline when there is one.
final class ProxyTunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// The channel is not active yet.
    case connecting(request: ByteBuffer)
    /// The request was sent; the reply so far.
    case asked(ProxyReply)
    /// There is a tunnel, or there will be none.
    case over
  }

  private var state: State
  private let promise: EventLoopPromise<Void>
  private var timer: Scheduled<Void>?

  private init(_ request: ByteBuffer, _ promise: EventLoopPromise<Void>) {
    state = .connecting(request: request)
    self.promise = promise
  }

  /// On the channel's event loop. If there is no tunnel within `timeout`, the channel is closed.
  static func open(
    _ proxy: ConnectProxy, to host: String, port: UInt16, on channel: any Channel, timeout: TimeAmount
  ) -> EventLoopFuture<any Channel> {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let handler = ProxyTunnelHandler(proxy.request(host, port), promise)
    do {
      try channel.pipeline.syncOperations.addHandler(handler)
      let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
      handler.timer = channel.eventLoop.scheduleTask(in: timeout) {
        bound.value.fail(ProxyTunnelError(description: "the proxy did not reply in time"))
      }
    } catch {
      promise.fail(error)
    }
    return promise.futureResult.map { channel }.flatMapErrorThrowing { error in
      channel.close(promise: nil)
      throw error
    }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { ask(context) }
  }

  // Also after `handlerAdded` on an active channel: the future of a connection is kept before this event.
  func channelActive(context: ChannelHandlerContext) {
    ask(context)
    context.fireChannelActive()
  }

  private func ask(_ context: ChannelHandlerContext) {
    guard case .connecting(let request) = state else { return }
    state = .asked(ProxyReply())
    context.writeAndFlush(wrapOutboundOut(request), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .asked(var reply) = state else { return }
    switch reply.append(unwrapInboundIn(data).readableBytesView) {
    case .incomplete: state = .asked(reply)
    case .refused(let reason): fail(ProxyTunnelError(description: reason))
    case .connected:
      end()
      context.pipeline.syncOperations.removeHandler(self, promise: promise)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(ProxyTunnelError(description: "the proxy closed the connection"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }

  private func fail(_ error: any Error) {
    if case .over = state { return }
    end()
    promise.fail(error)
  }

  private func end() {
    state = .over
    timer?.cancel()
  }
}
