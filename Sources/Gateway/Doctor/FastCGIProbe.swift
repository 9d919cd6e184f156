internal import DataPlane
internal import NIOCore

/// Detects whether a server speaks FastCGI: sends a request for its values, which an application server answers with a
/// record (FastCGI 1.0, 4.1), and which is not HTTP.
enum FastCGIProbe {
  /// FCGI_GET_VALUES for FCGI_MPXS_CONNS, without a line end, so that an HTTP server sees no request.
  static let question: [UInt8] =
    [1, 9, 0, 0, 0, 17, 7, 0, 15, 0] + Array("FCGI_MPXS_CONNS".utf8) + Array(repeating: 0, count: 7)

  /// Whether bytes are the beginning of an answer: FCGI_GET_VALUES_RESULT, or FCGI_UNKNOWN_TYPE, of no request. Nil if
  /// there are too few bytes.
  static func isAnswer(_ bytes: some Collection<UInt8>) -> Bool? {
    let head = Array(bytes.prefix(8))
    guard let version = head.first else { return nil }
    guard version == 1 else { return false }
    guard head.count == 8 else { return nil }
    return [10, 11].contains(head[1]) && head[2] == 0 && head[3] == 0
  }

  /// Asks the server at an address in cleartext.
  /// - Parameter timeout: for the connection, and again for the answer, because an HTTP server may wait for more bytes.
  /// - Returns: whether it answered with FastCGI.
  static func ask(_ address: UpstreamAddress, timeout: TimeAmount, on eventLoop: any EventLoop) async -> Bool {
    let promise = eventLoop.makePromise(of: Bool.self)
    if case .tcp(_, _, tls: true) = address {
      promise.succeed(false)
      return false
    }
    let connection = eventLoop.flatSubmit {
      UpstreamDialer.connect(to: address, on: eventLoop, timeout: timeout).flatMapThrowing { channel in
        try channel.pipeline.syncOperations.addHandler(Handler(promise, timeout))
        return channel
      }
    }
    guard let channel = try? await connection.get() else {
      promise.succeed(false)
      return false
    }
    let answer = (try? await promise.futureResult.get()) ?? false
    try? await channel.close().get()
    return answer
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let promise: EventLoopPromise<Bool>
    private let timeout: TimeAmount
    private var received: [UInt8] = []

    init(_ promise: EventLoopPromise<Bool>, _ timeout: TimeAmount) {
      self.promise = promise
      self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
      let promise = promise
      context.eventLoop.scheduleTask(in: timeout) { promise.succeed(false) }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: FastCGIProbe.question)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += unwrapInboundIn(data).readableBytesView.prefix(8)
      if let isAnswer = FastCGIProbe.isAnswer(received) { promise.succeed(isAnswer) }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(false) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.succeed(false) }
  }
}
