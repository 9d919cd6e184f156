internal import NIOCore
internal import SocketTransport

/// Reads from and writes to the socket of a client or of an upstream. The one owner of the channel's context, so that
/// no write can overtake another.
///
/// Without handlers in between, bytes go straight to the socket and come straight from it, which saves the work of the
/// channel pipeline for each message. With TLS or HTTP/2, handlers in between encode the bytes: then everything
/// goes through the pipeline, and so it does on a channel without a socket.
final class OrderedWriter {
  private(set) var context: ChannelHandlerContext?
  /// The socket, where nothing is in between.
  private var socket: SocketChannel?
  /// Whether no handler is between this one and the socket.
  let isAtSocket: Bool
  /// Whether everything that was written is known to have left.
  private var isClear = true

  /// - Parameter isAtSocket: whether no handler of the channel changes or delays what is written.
  init(isAtSocket: Bool) { self.isAtSocket = isAtSocket }

  // MARK: The channel

  /// - Parameter reader: gets what is read, where nothing is in between.
  func attach(_ context: ChannelHandlerContext, reader: any SocketReader) {
    self.context = context
    guard isAtSocket, let socket = context.channel as? SocketChannel else { return }
    self.socket = socket
    socket.reader = reader
  }

  func detach() {
    socket?.reader = nil
    socket = nil
    context = nil
  }

  var isAttached: Bool { context != nil }
  /// Whether something has come that was not read yet. Asks the system.
  var hasUnreadInput: Bool { (context?.channel as? SocketChannel)?.hasUnreadInput ?? false }
  var isWritable: Bool { context?.channel.isWritable ?? false }

  /// Asks the channel for bytes.
  @inline(__always)
  func read() { if let socket { socket.read0() } else { context?.read() } }

  /// The size of reads.
  func setReceiveBufferMode(_ mode: ReceiveBufferMode) {
    (context?.channel as? SocketChannel)?.receiveBufferMode = mode
  }

  // MARK: Writes

  /// Sends a message, or a part of one.
  @inline(__always)
  func send(_ bytes: ByteBuffer) {
    if let socket {
      isClear = socket.send(bytes)
    } else {
      isClear = false
      context?.writeAndFlush(NIOAny(bytes), promise: nil)
    }
  }

  /// Sends the head of a request, and what of its body there is.
  func send(header: ByteBuffer, content: ByteBuffer?) {
    guard let content else { return send(header) }
    write(header)
    write(content)
    flush()
  }

  /// Hands bytes over, to go out together with what follows; to be flushed.
  func write(_ bytes: ByteBuffer) {
    isClear = false
    if let socket { socket.write0(NIOAny(bytes), promise: nil) } else { context?.write(NIOAny(bytes), promise: nil) }
  }

  func flush() { if let socket { socket.flush0() } else if !isClear { context?.flush() } }

  /// Whether the system has taken everything that was written.
  func hasSentAll() -> Bool {
    if isClear, isAtSocket { return context != nil }
    if let socket {
      isClear = socket.waitingBytes == 0
      return isClear
    }
    guard let context, context.channel.queuedBytes == 0 else { return false }
    // Handlers in between may hold bytes that the channel does not know.
    isClear = isAtSocket
    return true
  }

  /// Ends the output (FIN, close_notify) after what was written.
  func closeOutput() { context?.close(mode: .output, promise: nil) }

  /// Closes the channel; what it has not sent is lost.
  func close() { context?.close(promise: nil) }
}

extension Channel {
  /// Bytes that the system has not taken; nil if the channel does not know.
  var queuedBytes: Int? {
    if let socket = self as? SocketChannel { return socket.waitingBytes }
    return try? syncOptions?.getOption(.bufferedWritableBytes)
  }

  /// Bytes that the peer has not acknowledged, as far as the system knows.
  var unsentBytes: Int {
    guard let socket = self as? SocketChannel else { return 0 }
    return socket.waitingBytes + socket.unacknowledgedBytes
  }
}
