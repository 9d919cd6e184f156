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

  /// Progress of the connection; each case owns what has a meaning only in it.
  private enum State {
    /// The channel is not active yet.
    /// - inspection: nil on the client's side of a connection.
    case idle(TLSConnection, inspection: ClientHelloInspection?)
    /// - inspection: nil on the client's side, and once the server has answered the ClientHello.
    case handshaking(TLSConnection, inspection: ClientHelloInspection?)
    case open(TLSConnection)
    /// close_notify was sent; the peer may still send.
    case outputClosed(TLSConnection)
    /// Closed, or about to be: no more bytes are read or written. OpenSSL's memory is freed before the channel's.
    case closed

    var connection: TLSConnection? {
      switch self {
      case .idle(let connection, _), .handshaking(let connection, _), .open(let connection),
        .outputClosed(let connection):
        connection
      case .closed: nil
      }
    }
  }

  private var state: State
  private var queue = PlaintextQueue()
  /// Whether a requested read has not yielded plaintext yet.
  private var readIsDue = false
  /// Bytes that OpenSSL wrote on its own while the peer does not take what there is for it.
  private var untakenAnswerBytes = 0
  /// Whether the end of the input was reported, after close_notify or as a socket error: the output may go on.
  private var inputHasEnded = false
  /// Whether a close sends no close_notify (``TLSAbruptClose``).
  private var closesAbruptly = false
  private let allocator = ByteBufferAllocator()

  /// The server's side of a connection: waits for the client to begin.
  ///
  /// - Parameter onPlainHTTP: takes over the connection of a peer that begins with a plain HTTP request: this handler
  ///   neither reads, writes nor closes any more. What it has received is discarded. Nil sends the alert and closes.
  package init(server: TLSServerContext, onPlainHTTP: ((any Channel) -> Void)? = nil) throws(TLSError) {
    let inspection = ClientHelloInspection(takesLongTickets: server.asksForCertificates, onPlainHTTP: onPlainHTTP)
    state = try .idle(TLSConnection(server: server), inspection: inspection)
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
    let connection = try TLSConnection(client: client, serverName: ServerName(serverName), sessions: sessions)
    state = .idle(connection, inspection: nil)
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
    let truncation = self.truncation
    finish(failingWritesWith: ChannelError.ioOnClosedChannel)
    if let truncation { context.fireErrorCaught(truncation) }
    context.fireChannelInactive()
  }

  /// The error of a connection whose input ends now, without close_notify; nil if an end was reported before, or if
  /// the state has no end to report.
  private var truncation: TLSError? {
    guard !inputHasEnded else { return nil }
    return switch state {
    case .idle, .closed: nil
    case .handshaking: .closedDuringHandshake
    case .open, .outputClosed: .uncleanShutdown
    }
  }

  private func begin(_ context: ChannelHandlerContext) {
    guard case .idle(let connection, let inspection) = state else { return }
    state = .handshaking(connection, inspection: inspection)
    advanceHandshake(connection, inspection, context)
    if case .handshaking = state { context.read() }
  }

  /// Releases all resources. Nothing is read or written afterwards.
  private func finish(failingWritesWith error: any Error) {
    state = .closed
    queue.takeAll().fail(error)
  }

  /// Sends the alert that corresponds to the error, reports the error, and closes.
  private func fail(_ error: TLSError, _ context: ChannelHandlerContext) {
    let alert = state.connection?.takeCiphertext()
    // First, because a socket error at the alert makes the channel inactive, and one error is enough.
    finish(failingWritesWith: error)
    if let alert { context.writeAndFlush(wrapOutboundOut(alert), promise: nil) }
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }

  // MARK: Inbound

  /// Decrypts one read of the socket. Bytes after the end of the input are dropped.
  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !inputHasEnded else { return }
    let read = unwrapInboundIn(data)
    switch state {
    case .idle(let connection, let inspection):
      guard let bytes = admitted(read, by: inspection, context) else { return }
      connection.receive(bytes)
    case .handshaking(let connection, let inspection):
      guard let bytes = admitted(read, by: inspection, context) else { return }
      connection.receive(bytes)
      advanceHandshake(connection, inspection, context)
      decrypt(connection, context)
    case .open(let connection), .outputClosed(let connection):
      connection.receive(read)
      decrypt(connection, context)
    case .closed: break
    }
  }

  /// - Returns: the received bytes for OpenSSL; nil if there are none yet, or if the client is refused.
  private func admitted(
    _ bytes: ByteBuffer, by inspection: ClientHelloInspection?, _ context: ChannelHandlerContext
  ) -> ByteBuffer? {
    guard let inspection else { return bytes }
    switch inspection.inspect(bytes) {
    case .admitted(let all): return all
    case .undecided: break
    case .tooLong:
      fail(.protocolViolation(reason: "a ClientHello of more than 16 KiB, or another message with it"), context)
    case .http:
      guard let onPlainHTTP = inspection.onPlainHTTP else {
        fail(.notTLS(isHTTP: true), context)
        break
      }
      finish(failingWritesWith: TLSError.notTLS(isHTTP: true))
      onPlainHTTP(context.channel)
    }
    return nil
  }

  /// Passes the event on, and reads again if the handshake or a requested read still lacks bytes.
  package func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    switch state {
    case .handshaking: context.read()
    // Nothing that arrived was plaintext: the read is still due.
    case .idle, .open, .outputClosed: if readIsDue { context.read() }
    case .closed: break
    }
  }

  /// Takes the end of the socket's stream for a truncation (RFC 8446, 6.1): an orderly end was reported at
  /// close_notify.
  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      // The end of the socket's stream. After a close_notify it was reported already.
      if let truncation { fail(truncation, context) }
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// Passes errors on, and notes a socket error, so that no ``TLSError/uncleanShutdown`` follows it.
  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A socket error, which is more specific than the missing close_notify that would follow.
    if error is IOError { inputHasEnded = true }
    context.fireErrorCaught(error)
  }

  private func advanceHandshake(
    _ connection: TLSConnection, _ inspection: ClientHelloInspection?, _ context: ChannelHandlerContext
  ) {
    switch connection.handshake() {
    case .incomplete:
      if let inspection, inspection.isWhole {
        if connection.asksForAnotherHello {
          inspection.expectAnother()
        } else {
          state = .handshaking(connection, inspection: nil)
        }
      }
      send(context)
    case .failed(let error):
      fail(error, context)
    case .complete:
      state = .open(connection)
      context.fireUserInboundEventTriggered(connection.negotiated)
      if case .open = state, queue.isFlushDue { sendHeld(connection, context) } else { send(context) }
    }
  }

  private func decrypt(_ connection: TLSConnection, _ context: ChannelHandlerContext) {
    // The reader may close the channel at any moment: check the state before each turn.
    while takesPlaintext {
      var plaintext = allocator.buffer(capacity: connection.expectedPlaintextBytes)
      let outcome = connection.read(into: &plaintext)
      if plaintext.readableBytes > 0 {
        // The answer to something that the server has not got: the rest of that would precede the next request.
        guard !queue.isFlushDue || !connection.isRenegotiating else {
          return fail(.protocolViolation(reason: "answers during another handshake, before it has everything"), context)
        }
        readIsDue = false
        context.fireChannelRead(wrapInboundOut(plaintext))
      }
      switch outcome {
      case .full: continue
      case .incomplete:
        if case .open = state, queue.isFlushDue, !connection.isRenegotiating { return sendHeld(connection, context) }
        // An answer to a key update, for example.
        return send(context)
      case .closed:
        send(context)
        if case .closed = state { return }
        inputHasEnded = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      case .failed(let error):
        if case .closed = state { return }
        fail(error, context)
      }
    }
  }

  /// Whether there may be plaintext of the peer.
  private var takesPlaintext: Bool {
    guard !inputHasEnded else { return false }
    return switch state {
    case .open, .outputClosed: true
    case .idle, .handshaking, .closed: false
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
      queue.isFlushDue = true
    case .open(let connection):
      if !queue.isEmpty {
        if connection.isRenegotiating { hold(context) } else { encrypt(connection, context) }
      }
      context.flush()
    case .outputClosed, .closed:
      context.flush()
    }
  }

  /// Leaves what waits until the other handshake is over. The channel does not count it, so that its writer goes on.
  private func hold(_ context: ChannelHandlerContext) {
    queue.isFlushDue = true
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
      let closeNotify = makeCloseNotify()
      switch state {
      case .idle, .handshaking:
        // There is no alert for it before the handshake is finished.
        promise?.fail(ChannelError.operationUnsupported)
        return
      case .open(let connection): state = .outputClosed(connection)
      case .outputClosed, .closed: break
      }
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
    guard case .open(let connection) = state, !closesAbruptly else { return nil }
    connection.sendCloseNotify()
    return connection.takeCiphertext().map(wrapOutboundOut)
  }

  /// Sends what OpenSSL wrote on its own: handshake, alerts, tickets, answers to key updates.
  ///
  /// OpenSSL answers each key update and each attempt to renegotiate, however many there are. From a peer that takes
  /// nothing the answers would pile up, so that it is refused: one that is only slow sends few of them.
  private func send(_ context: ChannelHandlerContext) {
    guard let ciphertext = state.connection?.takeCiphertext() else { return }
    untakenAnswerBytes = context.channel.isWritable ? 0 : untakenAnswerBytes + ciphertext.readableBytes
    guard untakenAnswerBytes <= Self.untakenAnswerLimit else {
      return fail(.protocolViolation(reason: "requests answers and does not take them"), context)
    }
    context.writeAndFlush(wrapOutboundOut(ciphertext), promise: nil)
  }

  /// Bytes: some five hundred key updates.
  private static let untakenAnswerLimit = 16 * 1024

  /// Encrypts what has waited for the end of a handshake, and sends it together with the last bytes of that.
  private func sendHeld(_ connection: TLSConnection, _ context: ChannelHandlerContext) {
    queue.isFlushDue = false
    encrypt(connection, context)
    context.flush()
  }

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
