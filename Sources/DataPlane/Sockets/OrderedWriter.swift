internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Writes to the socket of a client or of an upstream. The one owner of the channel's context and of the socket's
/// descriptor, so that no write can overtake another.
///
/// Most requests have no body, and most responses are small. Such a message goes straight to the socket, past the
/// channel pipeline and its queue of pending writes, which costs more than all other work for a request. Permitted only
/// while the channel has no pending writes: otherwise bytes would be reordered. Bytes that the socket does not take go
/// through the channel, and so do all later ones until these have left; the channel also handles the errors. With TLS
/// or HTTP/2, handlers in between encode the bytes: then everything goes through the channel.
final class OrderedWriter {
  private(set) var context: ChannelHandlerContext?
  /// The socket, where direct writes are possible.
  private var descriptor: CInt?
  /// Whether no handler is between this one and the socket.
  let isAtSocket: Bool
  /// Whether everything that was handed to the channel is known to have left.
  private var isClear = true

  /// - Parameter isAtSocket: whether no handler of the channel changes or delays what is written.
  init(isAtSocket: Bool) { self.isAtSocket = isAtSocket }

  // MARK: The channel

  func attach(_ context: ChannelHandlerContext) {
    self.context = context
    if isAtSocket { descriptor = context.channel.socketDescriptor }
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

  /// Reads what has come to the socket, past the channel, which handles the end of the input and errors.
  /// - Returns: whether there was something.
  func receive(into buffer: inout ByteBuffer) -> Bool {
    guard let descriptor else { return false }
    let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) {
      max(0, recv(descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT)))
    }
    return count > 0
  }

  // MARK: Writes

  /// Sends a message, or a part of one.
  @inline(__always)
  func send(_ bytes: ByteBuffer) {
    let count = sendDirectly(bytes)
    if count < bytes.readableBytes { sendThroughChannel(bytes, from: count) }
  }

  /// Sends the header of a request, and what of its body there is.
  func send(header: ByteBuffer, content: ByteBuffer?) {
    guard let content else { return send(header) }
    write(header)
    write(content)
    flush()
  }

  /// Hands bytes to the channel, to go out together with what follows; to be flushed.
  func write(_ bytes: ByteBuffer) {
    isClear = false
    context?.write(NIOAny(bytes), promise: nil)
  }

  func flush() { if !isClear { context?.flush() } }

  /// Whether the system has taken everything that was written.
  func hasSentAll() -> Bool {
    if isClear, isAtSocket { return context != nil }
    guard let waiting = try? channelOptions?.getOption(.bufferedWritableBytes), waiting == 0 else { return false }
    // Handlers in between may hold bytes that the channel does not know.
    isClear = isAtSocket
    return true
  }

  /// Ends the output (FIN, close_notify) behind what was written.
  func closeOutput() { context?.close(mode: .output, promise: nil) }

  /// Closes the channel; what it has not sent is lost.
  func close() {
    channelClosed()
    context?.close(promise: nil)
  }

  /// Sends what the socket takes of `bytes` at once.
  /// - Returns: how many that were.
  private func sendDirectly(_ bytes: ByteBuffer) -> Int {
    guard let descriptor, isClear || hasSentAll() else { return 0 }
    let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
    return bytes.withUnsafeReadableBytes {
      #if canImport(Glibc)
        max(0, Glibc.send(descriptor, $0.baseAddress, $0.count, flags))
      #else
        max(0, Musl.send(descriptor, $0.baseAddress, $0.count, flags))
      #endif
    }
  }

  private func sendThroughChannel(_ bytes: ByteBuffer, from start: Int) {
    var rest = bytes
    rest.moveReaderIndex(forwardBy: start)
    isClear = false
    context?.writeAndFlush(NIOAny(rest), promise: nil)
  }
}
