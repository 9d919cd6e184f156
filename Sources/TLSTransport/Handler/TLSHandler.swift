package import NIOCore

/// TLS for either side of a connection, by OpenSSL: plaintext towards the pipeline, ciphertext towards the socket.
///
/// Inbound: plaintext as it is decrypted, one buffer for what one read of the socket held (a second one at times);
/// ``TLSHandshakeCompleted`` before the first; `ChannelEvent.inputClosed` when the peer sent close_notify (the
/// reader may still answer, and closes when done); a ``TLSError`` by `errorCaught` after an error, before the channel
/// becomes inactive. After an error the handler closes the channel itself.
///
/// Outbound: writes are encrypted at the flush, small ones together in one record, and all of a flush goes out by one
/// write of the socket. Writes before the end of the handshake wait for it (they do not count for the channel's
/// writability: leave large bodies until ``TLSHandshakeCompleted``). A close sends close_notify and closes at once,
/// like any NIO channel does: wait for the last write's promise before it. See also ``TLSAbruptClose``. A close of the
/// output alone is not possible before the handshake is finished (`ChannelError.operationUnsupported`). During another
/// handshake, for which a server of TLS 1.2 may ask, writes wait in the same way, 256 KiB of them at most.
///
/// Honors the back-pressure of NIO's `read()`; during the handshake, and when a read held no plaintext, the handler
/// reads on its own. It has no time-outs: those are for the code that accepts or connects.
package final class TLSHandler: ChannelDuplexHandler {
  /// Ciphertext as the socket delivers it, with no regard to records.
  package typealias InboundIn = ByteBuffer
  /// Decrypted application data.
  package typealias InboundOut = ByteBuffer
  /// Application data to encrypt.
  package typealias OutboundIn = ByteBuffer
  /// Whole TLS records, alerts and handshake messages included.
  package typealias OutboundOut = ByteBuffer

  private enum State {
    /// The channel is not active yet.
    case idle
    case handshaking
    case open
    /// close_notify was sent; the peer may still send.
    case outputClosed
    /// Closed, or about to be: no more bytes are read or written.
    case closed
  }

  private var state = State.idle
  /// Nil once no more bytes are read or written: its memory is freed before the channel's.
  private var connection: TLSConnection?
  private var queue = PlaintextQueue()
  /// Whether a flush waits for the end of the handshake, or of another one.
  private var flushIsDue = false
  /// Whether a requested read has not yielded plaintext yet.
  private var readIsDue = false
  /// Bytes that OpenSSL wrote on its own while the peer does not take what there is for it.
  private var untakenAnswerBytes = 0
  /// Whether the end of the input was reported: after close_notify, the end of the stream, or a socket error.
  private var inputIsClosed = false
  private var closesAbruptly = false
  /// Inspects the first bytes of a client; nil once they are TLS, or something else that OpenSSL has to refuse.
  private var detector: PlainHTTPDetector?
  /// Inspects a client's bytes before the server has answered them; nil afterwards.
  private var helloLimit: ClientHelloLimit?
  /// Takes over the connection of a peer that speaks plain HTTP; nil sends it an alert and closes.
  private let onPlainHTTP: ((any Channel) -> Void)?
  private let allocator = ByteBufferAllocator()

  /// The negotiated parameters; nil before the end of the handshake.
  package private(set) var negotiated: TLSHandshakeCompleted?

  /// The server's side of a connection: waits for the client to begin.
  ///
  /// - Parameter onPlainHTTP: takes over the connection of a peer that begins with a plain HTTP request: this handler
  ///   neither reads, writes nor closes any more. What it has received is discarded. Nil sends the alert and closes.
  package init(server: TLSServerContext, onPlainHTTP: ((any Channel) -> Void)? = nil) throws(TLSError) {
    connection = try TLSConnection(server: server)
    detector = PlainHTTPDetector()
    helloLimit = ClientHelloLimit(takesLongTickets: server.asksForCertificates)
    self.onPlainHTTP = onPlainHTTP
  }

  /// The client's side of a connection: begins the handshake as soon as the channel is active.
  ///
  /// - Parameters:
  ///   - serverName: the host name (sent as SNI) or the IP address, without brackets or with, that the server's
  ///     certificate must list.
  ///   - sessions: the store of sessions of the same context with the same server; nil resumes none.
  package init(
    client: TLSClientContext, serverName: String, sessions: TLSClientSessions? = nil
  ) throws(TLSError) {
    onPlainHTTP = nil
    connection = try TLSConnection(client: client, serverName: ServerName(serverName), sessions: sessions)
  }

  // MARK: Beginning and end

  /// Begins the handshake at once if the channel is active already, as one that a PROXY header was read from.
  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { begin(context) }
  }

  /// Frees OpenSSL's objects and fails writes that wait. No close_notify is sent: the pipeline no longer leads here.
  package func handlerRemoved(context: ChannelHandlerContext) {
    finish(failingWritesWith: ChannelError.ioOnClosedChannel)
  }

  /// Begins the handshake before the handlers behind this one learn that the channel is active.
  package func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  /// Reports an end without close_notify (``TLSError/closedDuringHandshake``, ``TLSError/uncleanShutdown``) unless the
  /// end of the input or a socket error was reported before, then passes the event on.
  package func channelInactive(context: ChannelHandlerContext) {
    let state = self.state
    let isExplained = inputIsClosed
    finish(failingWritesWith: ChannelError.ioOnClosedChannel)
    switch state {
    case .idle, .closed: break
    case .handshaking: if !isExplained { context.fireErrorCaught(TLSError.closedDuringHandshake) }
    case .open, .outputClosed: if !isExplained { context.fireErrorCaught(TLSError.uncleanShutdown) }
    }
    context.fireChannelInactive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    guard state == .idle, let connection else { return }
    state = .handshaking
    advanceHandshake(connection, context)
    if state == .handshaking { context.read() }
  }

  /// Releases all resources. Nothing is read or written afterwards.
  private func finish(failingWritesWith error: any Error) {
    state = .closed
    connection = nil
    queue.takeAll().fail(error)
  }

  /// Sends the alert that corresponds to the error, reports the error, and closes.
  private func fail(_ error: TLSError, _ context: ChannelHandlerContext) {
    let alert = connection?.takeCiphertext()
    // First, because a socket error at the alert makes the channel inactive, and one error is enough.
    finish(failingWritesWith: error)
    if let alert { context.writeAndFlush(wrapOutboundOut(alert), promise: nil) }
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }

  // MARK: Inbound

  /// Decrypts one read of the socket. Bytes after the end of the input are dropped.
  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let connection, !inputIsClosed else { return }
    let read = unwrapInboundIn(data)
    guard let bytes = pastDetector(read, context) else { return }
    guard helloLimit?.admits(bytes) ?? true else {
      return fail(.protocolViolation(reason: "a ClientHello of more than 16 KiB, or another message with it"), context)
    }
    connection.receive(bytes)
    if state == .handshaking { advanceHandshake(connection, context) }
    decrypt(connection, context)
  }

  /// - Returns: the received bytes for TLS; nil if there are none yet, or if the peer speaks plain HTTP.
  private func pastDetector(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> ByteBuffer? {
    switch detector?.inspect(bytes) {
    case nil: return bytes
    case .undecided?: return nil
    case .other(let all)?:
      detector = nil
      return all
    case .http?:
      detector = nil
      guard let onPlainHTTP else {
        fail(.notTLS(isHTTP: true), context)
        return nil
      }
      finish(failingWritesWith: TLSError.notTLS(isHTTP: true))
      onPlainHTTP(context.channel)
      return nil
    }
  }

  /// Passes the event on, and reads again if the handshake or a requested read still lacks bytes.
  package func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // Nothing that arrived was plaintext: the read is still due.
    if state == .handshaking || (readIsDue && state != .closed) { context.read() }
  }

  /// Takes the end of the socket's stream for a truncation (RFC 8446, 6.1): an orderly end was reported at
  /// close_notify.
  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      // The end of the socket's stream. After a close_notify it was reported already.
      guard state != .closed, !inputIsClosed else { return }
      inputIsClosed = true
      closesAbruptly = true
      fail(state == .handshaking ? .closedDuringHandshake : .uncleanShutdown, context)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// Passes errors on, and notes a socket error, so that no ``TLSError/uncleanShutdown`` follows it.
  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A socket error, which is more specific than the missing close_notify that would follow.
    if error is IOError { inputIsClosed = true }
    context.fireErrorCaught(error)
  }

  private func advanceHandshake(_ connection: TLSConnection, _ context: ChannelHandlerContext) {
    switch connection.handshake() {
    case .incomplete:
      if helloLimit?.isWhole == true {
        if connection.asksForAnotherHello { helloLimit?.expectAnother() } else { helloLimit = nil }
      }
      send(context)
    case .failed(let error):
      fail(error, context)
    case .complete:
      state = .open
      helloLimit = nil
      let negotiated = connection.negotiated
      self.negotiated = negotiated
      context.fireUserInboundEventTriggered(negotiated)
      // Waiting writes are sent together with the last bytes of the handshake.
      if flushIsDue, state == .open {
        flushIsDue = false
        encrypt(connection, context)
        context.flush()
      } else {
        send(context)
      }
    }
  }

  private func decrypt(_ connection: TLSConnection, _ context: ChannelHandlerContext) {
    // The reader may close the channel at any moment: check the state before each turn.
    while state == .open || state == .outputClosed, !inputIsClosed {
      var plaintext = allocator.buffer(capacity: connection.expectedPlaintextBytes)
      let outcome = connection.read(into: &plaintext)
      if plaintext.readableBytes > 0 {
        // The answer to something that the server has not got: the rest of that would precede the next request.
        guard !flushIsDue || !connection.isRenegotiating else {
          return fail(.protocolViolation(reason: "answers during another handshake, before it has everything"), context)
        }
        readIsDue = false
        context.fireChannelRead(wrapInboundOut(plaintext))
      }
      switch outcome {
      case .full: continue
      case .incomplete:
        // An answer to a key update, for example. What waited for another handshake goes out with its last bytes.
        guard flushIsDue, state == .open, !connection.isRenegotiating else { return send(context) }
        flushIsDue = false
        encrypt(connection, context)
        return context.flush()
      case .closed:
        send(context)
        guard state != .closed else { return }
        inputIsClosed = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      case .failed(let error):
        guard state != .closed else { return }
        fail(error, context)
      }
    }
  }

  // MARK: Outbound

  /// Reads until plaintext arrives: one read of the socket may hold only a part of a record, or none of the
  /// application's.
  package func read(context: ChannelHandlerContext) {
    readIsDue = true
    context.read()
  }

  /// Queues plaintext until the next flush. The promise succeeds when the socket has taken the last record of it.
  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch state {
    case .idle, .handshaking, .open: queue.append(unwrapOutboundIn(data), promise: promise)
    case .outputClosed: promise?.fail(ChannelError.outputClosed)
    case .closed: promise?.fail(ChannelError.ioOnClosedChannel)
    }
  }

  /// Encrypts the queue and writes it; before the end of the handshake, notes that this is due.
  package func flush(context: ChannelHandlerContext) {
    switch state {
    case .idle, .handshaking:
      flushIsDue = true
    case .open:
      if let connection, !queue.isEmpty {
        if connection.isRenegotiating { hold(context) } else { encrypt(connection, context) }
      }
      context.flush()
    case .outputClosed, .closed:
      context.flush()
    }
  }

  /// Leaves what waits until the other handshake is over. The channel does not count it, so that its writer goes on.
  private func hold(_ context: ChannelHandlerContext) {
    flushIsDue = true
    guard queue.byteCount > Self.heldLimit else { return }
    fail(.protocolViolation(reason: "asks for another handshake and does not finish it"), context)
  }

  /// Most bytes that wait for the other handshake.
  private static let heldLimit = 256 * 1024

  /// Consumes ``TLSAbruptClose``; other events go on towards the socket.
  package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    if event is TLSAbruptClose {
      closesAbruptly = true
      promise?.succeed()
    } else {
      context.triggerUserOutboundEvent(event, promise: promise)
    }
  }

  /// Sends close_notify where the state allows it, and closes. Queued writes that were not flushed fail. A close of the
  /// input alone is left to the socket.
  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    switch mode {
    case .input:
      break
    case .output:
      guard state != .idle, state != .handshaking else {
        // There is no alert for it before the handshake is finished.
        promise?.fail(ChannelError.operationUnsupported)
        return
      }
      let closeNotify = makeCloseNotify()
      if state == .open { state = .outputClosed }
      queue.takeAll().fail(ChannelError.outputClosed)
      if let closeNotify { context.writeAndFlush(closeNotify, promise: nil) }
    case .all:
      let closeNotify = makeCloseNotify()
      // First, because a socket error at the write makes the channel inactive, as requested.
      finish(failingWritesWith: ChannelError.ioOnClosedChannel)
      if let closeNotify { context.writeAndFlush(closeNotify, promise: nil) }
    }
    context.close(mode: mode, promise: promise)
  }

  private func makeCloseNotify() -> NIOAny? {
    guard state == .open, !closesAbruptly, let connection else { return nil }
    connection.sendCloseNotify()
    return connection.takeCiphertext().map(wrapOutboundOut)
  }

  /// Sends what OpenSSL wrote on its own: handshake, alerts, tickets, answers to key updates.
  ///
  /// OpenSSL answers each key update and each attempt to renegotiate, however many there are. From a peer that takes
  /// nothing the answers would pile up, so that it is refused: one that is only slow sends few of them.
  private func send(_ context: ChannelHandlerContext) {
    guard let ciphertext = connection?.takeCiphertext() else { return }
    untakenAnswerBytes = context.channel.isWritable ? 0 : untakenAnswerBytes + ciphertext.readableBytes
    guard untakenAnswerBytes <= Self.untakenAnswerLimit else {
      return fail(.protocolViolation(reason: "requests answers and does not take them"), context)
    }
    context.writeAndFlush(wrapOutboundOut(ciphertext), promise: nil)
  }

  /// Bytes: some five hundred key updates.
  private static let untakenAnswerLimit = 16 * 1024

  /// Encrypts all that waits and writes it, without a flush.
  private func encrypt(_ connection: TLSConnection, _ context: ChannelHandlerContext) {
    do {
      try queue.takeAll().encrypt(by: connection, allocator: allocator) { ciphertext, promise in
        context.write(wrapOutboundOut(ciphertext), promise: promise)
      }
    } catch {
      fail(error, context)
    }
  }
}
