internal import CLinux
package import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A connection: a stream socket as a channel of a ``SocketEventLoop``. Until it is connected, it is a
/// ``ConnectingSocket``.
///
/// To its handlers it is what NIOPosix's is: it reads once for each read that is asked for and asks for the next by
/// itself, it queues writes between 32 and 64 KiB, and its input may end before its output where
/// ``allowsRemoteHalfClosure`` says so. Its state is touched on its loop only, as the properties marked as unsafe rely
/// on.
package final class SocketChannel: Channel, ChannelCore, PolledDescriptor {
  private enum Phase {
    /// Accepted or connected, and not yet set up.
    /// - peer: its address as it was accepted; nil of a Unix socket, and where it was connected to.
    case new(peer: SocketAddress?)
    case active
    case closed
  }

  private let loop: SocketEventLoop
  private let closePromise: EventLoopPromise<Void>
  nonisolated(unsafe) private var channelPipeline: ChannelPipeline?
  private let descriptor: CInt
  nonisolated(unsafe) private var phase: Phase
  nonisolated(unsafe) private var input: InputState
  nonisolated(unsafe) private var output = OutputState()
  nonisolated(unsafe) private var pending = PendingWrites()
  nonisolated(unsafe) private var interest: SocketInterest

  /// The receiver of what is read, in the place of the pipeline.
  nonisolated(unsafe) package var reader: (any SocketReader)?
  /// The size of reads.
  nonisolated(unsafe) package var receiveBufferMode = ReceiveBufferMode.usual
  /// Whether the connection outlives the end of its input. Each handler then has to close it at
  /// `ChannelEvent.inputClosed`, or to let it be answered first.
  nonisolated(unsafe) package var allowsRemoteHalfClosure = false
  /// Whether closing it resets the connection (TCP): the peer then knows that there would have been more. What the
  /// system has not sent is lost.
  nonisolated(unsafe) package var resetsOnClose = false

  private init(
    _ descriptor: CInt, _ phase: Phase, _ interest: SocketInterest, isReady: Bool, on loop: SocketEventLoop
  ) {
    self.loop = loop
    self.descriptor = descriptor
    self.phase = phase
    self.interest = interest
    input = InputState(isReady: isReady)
    closePromise = loop.makePromise(of: Void.self)
    channelPipeline = nil
    channelPipeline = ChannelPipeline(channel: self)
  }

  // MARK: Opening

  /// A connection that was accepted. It reads and writes once it was opened.
  package convenience init(_ accepted: ListeningSocket.Accepted, on loop: SocketEventLoop) {
    let peer = accepted.peer
    // The first bytes of a client are mostly there.
    self.init(accepted.descriptor, .new(peer: peer), SocketInterest(isLocal: peer == nil), isReady: true, on: loop)
  }

  /// Begins to serve an accepted connection, and reads what has come with it. Only then is it registered with the loop.
  package func open() {
    guard case .new = phase else { return }
    phase = .active
    input.beginReading()
    pipeline.syncOperations.fireChannelRegistered()
    if isActive { pipeline.syncOperations.fireChannelActive() }
    if isActive { pipeline.syncOperations.read() }
    input.endReading()
    // Its handlers may have written before.
    if isActive, pending.canSend { sendPending() }
    if isActive, input.isDue { receive() }
    guard isActive else { return }
    beginPolling()
    scheduleRead()
  }

  /// A connection that was made.
  /// - Parameter interest: what its descriptor is registered for.
  convenience init(connected descriptor: CInt, _ interest: SocketInterest, on loop: SocketEventLoop) {
    self.init(descriptor, .new(peer: nil), interest, isReady: false, on: loop)
  }

  /// Begins to serve a connection that was made.
  /// - Parameter promise: of the channel, completed before anything is read.
  func openConnected(_ promise: EventLoopPromise<any Channel>) {
    guard case .new = phase else { return }
    phase = .active
    pipeline.syncOperations.fireChannelRegistered()
    pipeline.syncOperations.fireChannelActive()
    promise.succeed(self)
    if isActive { pipeline.syncOperations.read() }
  }

  private func beginPolling() {
    do {
      try loop.register(self, descriptor, for: interest.beginning(with: .stream))
      interest.registered()
    } catch {
      close0(error: error, mode: .all, promise: nil)
    }
  }

  /// Tells the loop what it is to report from now on.
  /// - Parameter readiness: nil where nothing changes.
  private func tellLoop(_ readiness: Readiness?) {
    guard let readiness else { return }
    do {
      try loop.change(descriptor, to: readiness)
    } catch {
      close0(error: error, mode: .all, promise: nil)
    }
  }

  // MARK: Readiness

  func ready(_ readiness: Readiness) {
    if readiness.contains(.output) {
      pending.roomReported()
      if pending.canSend { sendPending() }
    }
    guard isActive else { return }
    if readiness.contains(.error) {
      input.reportedEnd(isHungUp: false)
      if readToEnd() { reset() }
    } else if !readiness.isDisjoint(with: .end) {
      input.reportedEnd(isHungUp: readiness.contains(.hangUp))
      if input.hasEnded { endIfHungUp() } else { readTowardsEnd() }
    } else if readiness.contains(.input) {
      if readiness.contains(.urgent) { input.reportedUrgent() } else { input.reported() }
      if input.isDue { receive() }
    }
  }

  func loopEnds() { close0(error: EventLoopError.shutdown, mode: .all, promise: nil) }

  /// Reads again what there was no turn for.
  func readAgain() {
    input.endReading()
    if let error = output.failure { return endAfter(error) }
    guard isActive, input.isDue else { return }
    if input.isEndReported { readTowardsEnd() } else { receive() }
  }

  private func scheduleRead() { if input.schedule() { loop.readLater(self) } }

  /// Reads towards the reported end of the input, for as long as reads are asked for, and a little beyond. After that,
  /// an end that comes next is handed on in any case.
  private func readTowardsEnd() {
    input.beginReading()
    while isActive, input.isDueTowardsEnd {
      let isAhead = !input.isWanted
      let count = receive()
      if isAhead { input.readAhead(count) }
    }
    input.endReading()
    if isActive, input.mayBeAtEnd { lookForEnd() }
  }

  /// Looks whether the end is what comes next.
  private func lookForEnd() {
    if let nothing = peek() { receivedNothing(nothing) } else { input.foundBytes() }
  }

  /// Looks at what comes next of the input, which stays there.
  /// - Returns: nil if there are bytes.
  private func peek() -> EmptyRead? {
    var byte: UInt8 = 0
    let count = withUnsafeMutableBytes(of: &byte) { SystemSocket.receiveBytes(descriptor, $0, flags: CInt(MSG_PEEK)) }
    return count > 0 ? nil : EmptyRead(count: count, errno: errno)
  }

  /// Reads up to the end of the input, whether that is asked for or not: the connection is over, and nothing is left of
  /// it for a later read.
  /// - Returns: whether the channel is open.
  private func readToEnd() -> Bool {
    input.beginReading()
    while isActive, input.isReady { receive() }
    input.endReading()
    return isActive
  }

  /// Ends a connection whose input has ended, and whose output has, too.
  private func endIfHungUp() { if isActive, input.isHungUp { reset() } }

  /// The connection was reset, or has ended in both directions.
  private func reset() {
    let code = SystemSocket.takeError(descriptor)
    let error = IOError(errnoCode: code == 0 ? ECONNRESET : code, reason: "connection reset")
    close0(error: error, mode: .all, promise: nil)
  }

  // MARK: Input

  /// Whether everything that a handler may ask for is possible.
  package var isActive: Bool { if case .active = phase { true } else { false } }

  /// Whether bytes, the end of the input or an error have come, and were not read yet. Asks the system.
  package var hasUnreadInput: Bool {
    guard isActive else { return true }
    if case .drained? = peek() { return false }
    return true
  }

  /// Asks for one read. Nothing happens after the end of the input.
  package func read0() {
    guard isActive, !input.hasEnded else { return }
    input.ask()
    scheduleRead()
  }

  /// Reads once, and hands on what that brings.
  /// - Returns: the number of bytes.
  @discardableResult
  private func receive() -> Int {
    var buffer = loop.receiveBuffers.take(receiveBufferMode)
    let room = buffer.writableBytes
    var count = 0
    var code: CInt = 0
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { space in
      count = SystemSocket.receiveBytes(descriptor, space)
      if count < 0 { code = errno }
      return max(0, count)
    }
    loop.receiveBuffers.give(buffer, receiveBufferMode)
    guard count > 0 else {
      receivedNothing(EmptyRead(count: count, errno: code))
      return 0
    }
    input.received(filled: count == room)
    handOn(consume buffer)
    return count
  }

  private func receivedNothing(_ reason: EmptyRead) {
    switch reason {
    case .drained: input.drained()
    case .end: receivedEnd()
    case .failed(let code): failed(IOError(errnoCode: code, reason: "recv"))
    }
  }

  private func receivedEnd() {
    input.drained()
    if let reader {
      if reader.socketReadComplete() { read0() }
    } else {
      pipeline.syncOperations.fireChannelReadComplete()
    }
    // The system reports a lost connection once, and the write got that error. Had the peer ended its output before, it
    // would have been EPIPE.
    if isActive, let error = output.failure, error.errnoCode != EPIPE { return failed(error) }
    if isActive { close0(error: ChannelError.eof, mode: allowsRemoteHalfClosure ? .input : .all, promise: nil) }
    endIfHungUp()
  }

  /// Ends the connection, and tells its handlers that the peer did not end it in order.
  private func failed(_ error: IOError) {
    pipeline.syncOperations.fireErrorCaught(error)
    close0(error: error, mode: .all, promise: nil)
  }

  private func handOn(_ buffer: consuming ByteBuffer) {
    // Looked up once, because each look would retain it.
    if let reader {
      reader.socketRead(buffer)
      if isActive, reader.socketReadComplete() { read0() }
    } else {
      let pipeline = pipeline.syncOperations
      pipeline.fireChannelRead(NIOAny(buffer))
      if isActive { pipeline.fireChannelReadComplete() }
      if isActive, !input.isWanted { pipeline.read() }
    }
    if isActive { scheduleRead() }
  }

  // MARK: Output

  /// Whether writers may go on: false from more than 64 KiB waiting until there are fewer than 32 KiB.
  package var isWritable: Bool { pending.isWritable }

  /// Bytes that the system has not taken.
  package var waitingBytes: Int { pending.byteCount }

  /// Bytes that the system has taken, and the peer not acknowledged. 0 where it does not tell.
  package var unacknowledgedBytes: Int { isActive ? SystemSocket.unacknowledgedBytes(descriptor) : 0 }

  /// Sends at once, past the pipeline: what the system does not take waits behind what is waiting.
  /// - Returns: whether the system has taken all that was written so far.
  @inline(__always)
  @discardableResult
  package func send(_ bytes: ByteBuffer) -> Bool {
    var count = 0
    if pending.isEmpty, isActive, output.isOpen {
      count = bytes.withUnsafeReadableBytes { SystemSocket.sendBytes(descriptor, $0) }
      if count == bytes.readableBytes { return true }
      if count < 0 { count = noteRefusal() }
    }
    sendRest(bytes, from: count)
    return false
  }

  /// A write was refused: another attempt would meet another error, if any.
  /// - Returns: zero bytes were taken.
  @inline(never)
  private func noteRefusal() -> Int {
    let code = errno
    if code != EAGAIN, code != EWOULDBLOCK, code != EINTR { sendFailed(IOError(errnoCode: code, reason: "send")) }
    return 0
  }

  private func sendRest(_ bytes: ByteBuffer, from start: Int) {
    var rest = bytes
    rest.moveReaderIndex(forwardBy: start)
    append(rest, nil)
    flush0()
  }

  /// Queues bytes until ``flush0()``. Anything but a `ByteBuffer` fails with `operationUnsupported`.
  package func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .byteBuffer(let bytes) = unwrapData(data, as: IOData.self) else {
      promise?.fail(ChannelError.operationUnsupported)
      return
    }
    append(bytes, promise)
  }

  private func append(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
    if case .closed = phase {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    guard output.isOpen else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    if pending.append(bytes, promise, spare: &loop.spareWrites) {
      pipeline.syncOperations.fireChannelWritabilityChanged()
    }
  }

  /// Sends what is queued, as far as the system takes it; the rest leaves as soon as there is room.
  package func flush0() {
    pending.flush()
    if isActive, pending.canSend { sendPending() }
  }

  private func sendPending() {
    let (outcome, sent) = pending.send(to: descriptor, spare: &loop.spareWrites)
    switch outcome {
    case .all: tellLoop(interest.allHasLeft())
    case .full: tellLoop(interest.roomIsWanted())
    case .failed: break
    }
    for promise in sent { promise.succeed() }
    if case .failed(let code) = outcome { return sendFailed(IOError(errnoCode: code, reason: "send")) }
    guard isActive else { return }
    if pending.becomeWritable() { pipeline.syncOperations.fireChannelWritabilityChanged() }
    // Not by the outcome: a handler may have written since.
    if pending.isEmpty, let promises = output.takeEnd() { endOutput(promises) }
  }

  /// The peer takes nothing more. The connection ends in the next turn, when what the peer has sent before was read, as
  /// that is mostly why: now a handler may be in the middle of reading, or of the write that has failed.
  private func sendFailed(_ error: IOError) {
    guard isActive, output.fail(error) else { return }
    loop.readLater(self)
  }

  private func endAfter(_ error: IOError) {
    input.reported()
    if readToEnd() { close0(error: error, mode: .all, promise: nil) }
  }

  private func endOutput(_ promises: [EventLoopPromise<Void>]) {
    SystemSocket.endOutput(descriptor)
    if input.hasEnded {
      close0(error: ChannelError.outputClosed, mode: .all, promise: nil)
      for promise in promises { promise.succeed() }
      return
    }
    for promise in promises { promise.succeed() }
    if isActive { pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.outputClosed) }
  }

  // MARK: Closing

  /// Closes a direction or both; with `.output` after what is queued was sent. A second time the promise fails.
  package func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if case .closed = phase {
      promise?.fail(ChannelError.alreadyClosed)
      return
    }
    switch mode {
    case .output: closeOutput(error, promise)
    case .input: closeInput(error, promise)
    case .all: closeAll(error, promise)
    }
  }

  private func closeOutput(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    guard isActive else {
      promise?.fail(ChannelError.operationUnsupported)
      return
    }
    switch output.end(isDrained: pending.isEmpty, promise) {
    case .later: break
    case .now where input.hasEnded: closeAll(error, promise)
    case .now: endOutput(promise.map { [$0] } ?? [])
    case .past: promise?.fail(ChannelError.outputClosed)
    }
  }

  private func closeInput(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    guard !input.hasEnded else {
      promise?.fail(ChannelError.inputClosed)
      return
    }
    if output.hasEnded { return closeAll(error, promise) }
    input.end()
    promise?.succeed()
    pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  private func closeAll(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let before = phase
    phase = .closed
    if interest.isRegistered { loop.forget(descriptor) }
    if resetsOnClose { SystemSocket.resetOnClose(descriptor) }
    SystemSocket.close(descriptor)
    for promise in pending.takeAll() { promise.fail(error) }
    for promise in output.close() { promise.fail(error) }
    promise?.succeed()
    switch before {
    case .active:
      pipeline.syncOperations.fireChannelInactive()
      pipeline.syncOperations.fireChannelUnregistered()
    case .new, .closed: break
    }
    // In the next turn: the channel may be closed from the middle of its pipeline.
    loop.execute { [self] in
      reader = nil
      removeHandlers(pipeline: pipeline)
      closePromise.succeed()
    }
  }

  // MARK: Channel conformance

  /// Succeeds in the turn after both directions were closed.
  package var closeFuture: EventLoopFuture<Void> { closePromise.futureResult }
  /// The handlers of the channel.
  package var pipeline: ChannelPipeline {
    guard let channelPipeline else { preconditionFailure("a channel has its pipeline from its initializer on") }
    return channelPipeline
  }
  /// The loop that the channel is on for its whole life.
  package var eventLoop: any EventLoop { loop }
  /// The local address; nil once the channel is closed.
  package var localAddress: SocketAddress? { try? localAddress0() }
  /// The peer's address; nil once the channel is closed.
  package var remoteAddress: SocketAddress? { try? remoteAddress0() }

  /// The local address, as the system has it now.
  package func localAddress0() throws -> SocketAddress {
    if case .closed = phase { throw ChannelError.ioOnClosedChannel }
    return try SystemSocket.localAddress(descriptor)
  }

  /// The peer's address: as it was accepted, later as the system has it now.
  package func remoteAddress0() throws -> SocketAddress {
    if case .new(let peer?) = phase { return peer }
    if case .closed = phase { throw ChannelError.ioOnClosedChannel }
    return try SystemSocket.peerAddress(descriptor)
  }
}
