internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Writes to an upstream socket. The one owner of the channel's context and of the socket's descriptor, so that no
/// write can overtake another.
///
/// Most requests have no body. A request header goes straight to the socket, past the channel pipeline and its queue of
/// pending writes, which costs more than all other work for a request. Permitted only while the channel has no pending
/// writes: otherwise bytes would be reordered. Bytes that the socket does not take go through the channel, and so do
/// all later ones; the channel also handles the errors. With TLS or HTTP/2, handlers in between encode the bytes: then
/// everything goes through the channel.
final class OrderedWriter {
  private var context: ChannelHandlerContext?
  /// The socket's descriptor; nil where no direct write is possible.
  private var descriptor: CInt?
  /// Whether no handler is between this one and the socket.
  private let isAtSocket: Bool
  /// Writes handed to the channel, and how many of them are known to have left.
  private var written: UInt64 = 0
  private var left: UInt64 = 0

  /// - Parameter isAtSocket: whether no handler of the channel changes or delays what is written.
  init(isAtSocket: Bool) { self.isAtSocket = isAtSocket }

  // MARK: The channel

  func attach(_ context: ChannelHandlerContext) {
    self.context = context
    guard isAtSocket else { return }
    descriptor = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
      (socket: NIOBSDSocket.Handle) in socket
    }
  }

  /// Forgets the channel.
  func detach() {
    channelClosed()
    context = nil
  }

  /// Stops direct writes. To be called before the channel closes its socket, whose descriptor may be reused afterwards.
  func channelClosed() { descriptor = nil }

  var isAttached: Bool { context != nil }
  var isWritable: Bool { context?.channel.isWritable ?? false }
  var channelOptions: (any NIOSynchronousChannelOptions)? { context?.channel.syncOptions }

  /// Asks the channel for bytes.
  func read() { context?.read() }

  // MARK: Writes

  /// Sends the header of a request, and what of its body there is.
  func send(header: ByteBuffer, content: ByteBuffer?) {
    guard let context else { return }
    var rest = header
    let isSent = sendDirectly(&rest)
    if let content {
      if !isSent { write(rest) }
      write(content)
      context.flush()
    } else if !isSent {
      writeAndNote(rest, context)
    }
  }

  /// Writes more of a request's body, or bytes of a tunnel; to be flushed.
  func write(_ content: ByteBuffer) {
    written += 1
    context?.write(NIOAny(content), promise: nil)
  }

  func flush() { context?.flush() }

  /// Whether the system has taken everything that was written.
  func hasSentAll() -> Bool {
    if isAtSocket, isClear { return true }
    guard let waiting = try? channelOptions?.getOption(.bufferedWritableBytes), waiting == 0 else { return false }
    left = written
    return true
  }

  /// Ends the output (FIN, close_notify) behind what was written.
  func closeOutput() { context?.close(mode: .output, promise: nil) }

  /// Closes the channel; what it has not sent is lost.
  func close() {
    channelClosed()
    context?.close(promise: nil)
  }

  /// Whether everything that was handed to the channel is known to have left.
  private var isClear: Bool { written == left }

  /// Sends what the socket takes of `bytes` at once, and takes that out of it.
  /// - Returns: whether that was everything.
  private func sendDirectly(_ bytes: inout ByteBuffer) -> Bool {
    guard let descriptor, isClear else { return false }
    let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
    let count = bytes.withUnsafeReadableBytes {
      #if canImport(Glibc)
        Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
      #else
        Musl.send(descriptor, $0.baseAddress, $0.count, flags)
      #endif
    }
    if count > 0 { bytes.moveReaderIndex(forwardBy: count) }
    return bytes.readableBytes == 0
  }

  /// Hands the whole of a request, or the rest of one, to the channel: once it has left, so has all before it.
  private func writeAndNote(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    written += 1
    guard isAtSocket else { return context.writeAndFlush(NIOAny(bytes), promise: nil) }
    let number = written
    let sent = context.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    sent.futureResult.whenSuccess { bound.value.left = max(bound.value.left, number) }
    context.writeAndFlush(NIOAny(bytes), promise: sent)
  }
}
