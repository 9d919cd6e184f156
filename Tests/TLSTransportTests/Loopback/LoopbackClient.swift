import NIOCore
import NIOPosix

@testable import TLSTransport

/// A TLS client on loopback: sends bytes, waits for as many, and closes.
enum LoopbackClient {
  struct Result: Sendable {
    let received: ByteBuffer
    let negotiated: TLSHandshakeCompleted?
    let error: TLSError?
  }

  static func exchange(
    _ bytes: ByteBuffer, port: Int, serverName: String = "127.0.0.1", protocols: [String] = [],
    trust: TLSTrust = .file(TestCertificates.path(TestCertificates.authority))
  ) async throws -> Result {
    let context = try TLSClientContext(trust: trust, applicationProtocols: protocols)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let result = loop.makePromise(of: Result.self)
    let connected = ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            TLSHandler(client: context, serverName: serverName),
            CollectHandler(expected: bytes.readableBytes, result: result))
        }
      }
      .connect(host: "127.0.0.1", port: port)
    connected.whenSuccess { $0.writeAndFlush(bytes, promise: nil) }
    connected.whenFailure { result.fail($0) }
    return try await result.futureResult.get()
  }
}

/// Collects what arrives until it is all there or the connection ends.
private final class CollectHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let expected: Int
  private let result: EventLoopPromise<LoopbackClient.Result>
  private var received = ByteBuffer()
  private var negotiated: TLSHandshakeCompleted?
  private var error: TLSError?

  init(expected: Int, result: EventLoopPromise<LoopbackClient.Result>) {
    self.expected = expected
    self.result = result
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.writeImmutableBuffer(unwrapInboundIn(data))
    if received.readableBytes >= expected { context.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let negotiated = event as? TLSHandshakeCompleted { self.negotiated = negotiated }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if self.error == nil { self.error = error as? TLSError }
  }

  func channelInactive(context: ChannelHandlerContext) {
    result.succeed(.init(received: received, negotiated: negotiated, error: error))
  }
}
