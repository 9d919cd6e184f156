import Glibc
import NIOCore
import NIOPosix

// channel-benchmark echo ROUNDS      64 bytes to a second channel of the same event loop and back, ROUNDS times
// channel-benchmark gather ROUNDS    the same, but each side writes eight buffers before it flushes
// channel-benchmark idle PAIRS       opens PAIRS pairs of channels, each idle after one round
//
// Nothing else depends on the number: the difference of two runs, divided by the difference of their numbers, is the
// cost of one round in instructions, or of one pair of channels in heap memory in use at exit.

/// Sends `buffers` buffers of 64 bytes, and again as soon as all of them have come back.
private final class Sender: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let size = 64
  private let buffers: Int
  private let message = ByteBuffer(repeating: 0x61, count: Sender.size)
  private let finished: EventLoopPromise<Void>
  private var remaining: Int
  private var received = 0

  init(buffers: Int, rounds: Int, finished: EventLoopPromise<Void>) {
    self.buffers = buffers
    self.finished = finished
    remaining = rounds
  }

  func channelActive(context: ChannelHandlerContext) { send(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytes
    guard received == buffers * Self.size else { return }
    received = 0
    remaining -= 1
    if remaining == 0 { finished.succeed() } else { send(context) }
  }

  private func send(_ context: ChannelHandlerContext) {
    for _ in 0..<buffers { context.write(wrapOutboundOut(message), promise: nil) }
    context.flush()
  }
}

/// Returns all that it receives, in slices of 64 bytes if `isSliced`.
private final class Echo: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let isSliced: Bool

  init(isSliced: Bool) { self.isSliced = isSliced }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard isSliced else {
      context.write(data, promise: nil)
      return
    }
    var buffer = unwrapInboundIn(data)
    while let slice = buffer.readSlice(length: min(64, buffer.readableBytes)), slice.readableBytes > 0 {
      context.write(wrapOutboundOut(slice), promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
}

/// Opens two connected channels on `loop`, and returns them after `rounds` rounds.
private func run(buffers: Int, rounds: Int, on loop: any EventLoop) throws -> [any Channel] {
  var ends: [CInt] = [0, 0]
  guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else { fatalError("socketpair failed") }
  let finished = loop.makePromise(of: Void.self)
  let echo = try ClientBootstrap(group: loop)
    .channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(Echo(isSliced: buffers > 1))
      }
    }
    .withConnectedSocket(ends[0]).wait()
  let sender = try ClientBootstrap(group: loop)
    .channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          Sender(buffers: buffers, rounds: rounds, finished: finished))
      }
    }
    .withConnectedSocket(ends[1]).wait()
  try finished.futureResult.wait()
  return [sender, echo]
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
  fatalError("usage: channel-benchmark echo|gather|idle NUMBER")
}
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let loop = group.next()
/// Keeps the channels alive until the process exits.
var channels: [any Channel] = []
switch arguments[1] {
case "echo": channels = try run(buffers: 1, rounds: count, on: loop)
case "gather": channels = try run(buffers: 8, rounds: count, on: loop)
case "idle": for _ in 0..<count { channels += try run(buffers: 1, rounds: 1, on: loop) }
default: fatalError("unknown case: \(arguments[1])")
}
exit(0)
