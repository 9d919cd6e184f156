internal import DataPlane
internal import NIOCore

/// A question to a server, and what tells by the first bytes of its answer whether it speaks a certain protocol.
struct ServerProbe: Sendable {
  /// Sent in cleartext, as soon as there is a connection.
  let question: [UInt8]
  /// Whether bytes are the beginning of an answer in the protocol. Nil if there are too few bytes.
  let isAnswer: @Sendable ([UInt8]) -> Bool?

  /// Asks the server at an address, without TLS, whatever the address says.
  /// - Parameter timeout: for the connection, and again for the answer, because an HTTP server may wait for more bytes.
  /// - Returns: whether it answered in the protocol; nil if it gave no answer.
  func ask(_ address: UpstreamAddress, timeout: TimeAmount, on eventLoop: any EventLoop) async -> Bool? {
    let promise = eventLoop.makePromise(of: Bool?.self)
    let connection = eventLoop.flatSubmit {
      UpstreamDialer.connect(to: address, on: eventLoop, timeout: timeout).flatMapThrowing { channel in
        try channel.pipeline.syncOperations.addHandler(Handler(self, promise, timeout))
        return channel
      }
    }
    guard let channel = try? await connection.get() else {
      promise.succeed(nil)
      return nil
    }
    let answer = try? await promise.futureResult.get()
    try? await channel.close().get()
    return answer
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let probe: ServerProbe
    private let promise: EventLoopPromise<Bool?>
    private let timeout: TimeAmount
    private var received: [UInt8] = []

    init(_ probe: ServerProbe, _ promise: EventLoopPromise<Bool?>, _ timeout: TimeAmount) {
      self.probe = probe
      self.promise = promise
      self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
      let promise = promise
      context.eventLoop.scheduleTask(in: timeout) { promise.succeed(nil) }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: probe.question)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += unwrapInboundIn(data).readableBytesView.prefix(8)
      if let isAnswer = probe.isAnswer(received) { promise.succeed(isAnswer) }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.succeed(nil) }
  }
}
