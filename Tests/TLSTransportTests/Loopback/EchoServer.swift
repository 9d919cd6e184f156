import NIOCore
import NIOPosix
import Synchronization

@testable import TLSTransport

/// A TLS server on loopback that sends back what it gets, ends the connection after a "bye", and remembers what its
/// handshakes agreed on.
final class EchoServer: Sendable {
  let channel: any Channel
  let journal: Journal

  var port: Int { channel.localAddress?.port ?? 0 }

  /// The events on the server's connections.
  final class Journal: Sendable {
    let agreements = Mutex<[TLSHandshakeCompleted]>([])
    let errors = Mutex<[String]>([])
  }

  private init(channel: any Channel, journal: Journal) {
    self.channel = channel
    self.journal = journal
  }

  static func start(
    files: TestCertificates.Files = TestCertificates.valid, protocols: [String] = []
  ) async throws -> EchoServer {
    try await start(
      TLSServerContext(
        certificateFile: files.certificate, privateKeyFile: files.key, applicationProtocols: protocols))
  }

  static func start(_ context: TLSServerContext) async throws -> EchoServer {
    let journal = Journal()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(TLSHandler(server: context), EchoHandler(journal: journal))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return EchoServer(channel: channel, journal: journal)
  }

  func stop() async throws {
    try await channel.close()
  }
}

/// Sends back what it gets; closes when the other side has no more.
private final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let journal: EchoServer.Journal
  private var saysGoodbye = false

  init(journal: EchoServer.Journal) {
    self.journal = journal
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    saysGoodbye = bytes.readableBytesView.suffix(4).elementsEqual("bye\n".utf8)
    context.write(data, promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.flush()
    if saysGoodbye { closeWhenSent(context) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let negotiated = event as? TLSHandshakeCompleted { journal.agreements.withLock { $0.append(negotiated) } }
    if case .some(.inputClosed) = event as? ChannelEvent { closeWhenSent(context) }
  }

  private func closeWhenSent(_ context: ChannelHandlerContext) {
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [context] _ in context.close(promise: nil) }
    context.writeAndFlush(NIOAny(ByteBuffer()), promise: promise)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    journal.errors.withLock { $0.append("\(error)") }
  }
}
