internal import CLinux
package import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A connection: a stream socket as a channel of a ``SocketEventLoop``.
///
/// To its handlers it is what NIOPosix's is: it reads once for each read that is asked for and asks for the next by
/// itself, it queues writes between 32 and 64 KiB, and its input may end before its output where
/// ``allowsRemoteHalfClosure`` says so. Its state is touched on its loop only, as the properties marked as unsafe rely
/// on.
package final class SocketChannel: Channel, ChannelCore, PolledDescriptor {
  private enum Phase {
    /// Accepted, and not yet set up.
    case new
    case connecting(EventLoopPromise<any Channel>, timeout: LoopTimer?)
    case active
    case closed
  }

  /// The end of what is written.
  private enum Output {
    case open
    /// The end follows what waits.
    case ending([EventLoopPromise<Void>])
    case ended
  }

  private let loop: SocketEventLoop
  private let closePromise: EventLoopPromise<Void>
  nonisolated(unsafe) private var channelPipeline: ChannelPipeline?
  private let descriptor: CInt
  /// Whether it is a Unix socket. These report room whenever the peer has read, not only when there had been none: they
  /// are asked for that only while something waits.
  private let isLocal: Bool
  nonisolated(unsafe) private var phase = Phase.new
  nonisolated(unsafe) private var output = Output.open
  nonisolated(unsafe) private var hasInputEnded = false
  nonisolated(unsafe) private var pending = PendingWrites()
  nonisolated(unsafe) private var takesWrites = true
  /// Whether the system takes nothing until it reports room.
  nonisolated(unsafe) private var isFull = false
  /// The error that sending has met; reported when what the peer had sent before was read.
  nonisolated(unsafe) private var sendError: (any Error)?
  /// The changes that the loop reports, or will once the socket is registered.
  nonisolated(unsafe) private var interest: Readiness = []
  nonisolated(unsafe) private var isRegistered = false
  /// Whether a read is asked for.
  nonisolated(unsafe) private var wantsRead = false
  /// Whether the system may have something to read: changes are reported, not states.
  nonisolated(unsafe) private var mayRead = true
  /// Whether the system has reported the end of the input, up to which there is something to read.
  nonisolated(unsafe) private var isEndReported = false
  /// Whether a read is being handed on, or the loop will make one.
  nonisolated(unsafe) private var isReading = false
  /// The address of an accepted connection's peer, until the connection is set up.
  nonisolated(unsafe) private var acceptedPeer: SocketAddress?

  /// The receiver of what is read, in the place of the pipeline.
  nonisolated(unsafe) package var reader: (any SocketReader)?
  /// The size of reads.
  nonisolated(unsafe) package var receiveBufferMode = ReceiveBufferMode.usual
  /// Whether the connection outlives the end of its input. Each handler then has to close it at
  /// `ChannelEvent.inputClosed`, or to let it be answered first.
  nonisolated(unsafe) package var allowsRemoteHalfClosure = false

  private static let highWaterMark = 64 * 1024
  private static let lowWaterMark = 32 * 1024

  private init(_ descriptor: CInt, isLocal: Bool, on loop: SocketEventLoop) {
    self.loop = loop
    self.isLocal = isLocal
    self.descriptor = descriptor
    closePromise = loop.makePromise(of: Void.self)
    channelPipeline = nil
    channelPipeline = ChannelPipeline(channel: self)
  }

  // MARK: Beginnings

  /// A connection that was accepted. It reads and writes once it was opened.
  package convenience init(_ accepted: ListeningSocket.Accepted, on loop: SocketEventLoop) {
    self.init(accepted.descriptor, isLocal: accepted.peer == nil, on: loop)
    acceptedPeer = accepted.peer
  }

  /// Begins to serve an accepted connection, and reads what has come with it. Only then is it registered with the loop:
  /// the first bytes of a client are mostly there.
  package func open() {
    guard case .new = phase else { return }
    phase = .active
    acceptedPeer = nil
    isReading = true
    pipeline.syncOperations.fireChannelRegistered()
    if isActive { pipeline.syncOperations.fireChannelActive() }
    if isActive { pipeline.syncOperations.read() }
    isReading = false
    // Its handlers may have written before.
    if isActive, !isFull, pending.hasFlushed { sendPending() }
    if wantsRead, isActive { receive() }
    guard isActive else { return }
    register(for: interest.union([.input, .inputEnd]))
    if wantsRead, mayRead { readNextTurn() }
  }

  /// Connects to an address.
  /// - Parameters:
  ///   - timeout: until it counts as failed, with `ChannelError.connectTimeout`.
  ///   - isKeptAlive: whether TCP asks a silent peer now and then (see ``KeepAlive``).
  /// - Returns: the channel, active. Fails with `IOError`.
  package static func connect(
    to address: SocketAddress, on loop: SocketEventLoop, timeout: TimeAmount, isKeptAlive: Bool = false
  ) -> EventLoopFuture<any Channel> {
    guard loop.inEventLoop else {
      return loop.flatSubmit { connect(to: address, on: loop, timeout: timeout, isKeptAlive: isKeptAlive) }
    }
    let promise = loop.makePromise(of: (any Channel).self)
    do {
      let descriptor = try SystemSocket.open(address.protocol)
      if isKeptAlive, address.protocol != .unix { KeepAlive.apply(to: descriptor) }
      SocketChannel(descriptor, isLocal: address.protocol == .unix, on: loop)
        .connect(to: address, timeout: timeout, promise)
    } catch {
      promise.fail(error)
    }
    return promise.futureResult
  }

  private func connect(
    to address: SocketAddress, timeout: TimeAmount, _ promise: EventLoopPromise<any Channel>
  ) {
    mayRead = false
    phase = .connecting(promise, timeout: nil)
    do {
      if try SystemSocket.connect(descriptor, to: address) {
        register(for: [.input, .inputEnd])
        return connected()
      }
    } catch {
      return close0(error: error, mode: .all, promise: nil)
    }
    let timer = loop.after(timeout) { [self] in
      close0(error: ChannelError.connectTimeout(timeout), mode: .all, promise: nil)
    }
    phase = .connecting(promise, timeout: timer)
    register(for: [.input, .inputEnd, .output])
  }

  private func finishConnect() {
    let code = SystemSocket.takeError(descriptor)
    if code == 0 { return connected() }
    close0(error: IOError(errnoCode: code, reason: "connect"), mode: .all, promise: nil)
  }

  private func connected() {
    guard case .connecting(let promise, let timeout) = phase else { return }
    if let timeout { loop.cancel(timeout) }
    phase = .active
    pipeline.syncOperations.fireChannelRegistered()
    pipeline.syncOperations.fireChannelActive()
    promise.succeed(self)
    if isActive { pipeline.syncOperations.read() }
  }

  private func register(for wanted: Readiness) {
    interest = wanted
    do {
      try loop.register(self, descriptor, for: wanted.union(.edges))
      isRegistered = true
    } catch {
      close0(error: error, mode: .all, promise: nil)
    }
  }

  /// - Parameter isWatched: whether the loop is to report room for what waits.
  private func watchOutput(_ isWatched: Bool) {
    let wanted = isWatched ? interest.union(.output) : interest.subtracting(.output)
    guard wanted != interest else { return }
    interest = wanted
    guard isRegistered else { return }
    do {
      try loop.change(descriptor, to: wanted.union(.edges))
    } catch {
      close0(error: error, mode: .all, promise: nil)
    }
  }

  // MARK: Readiness

  func ready(_ readiness: Readiness) {
    if case .connecting = phase {
      guard !readiness.isDisjoint(with: [.output, .hangUp, .error]) else { return }
      finishConnect()
    }
    if readiness.contains(.output) {
      isFull = false
      if pending.hasFlushed { sendPending() }
    }
    guard isActive else { return }
    if !readiness.isDisjoint(with: .end) {
      mayRead = true
      isEndReported = true
      if readToEnd(), !readiness.isDisjoint(with: [.hangUp, .error]) { reset() }
    } else if readiness.contains(.input) {
      mayRead = true
      if wantsRead { receive() }
    }
  }

  func loopEnds() { close0(error: EventLoopError.shutdown, mode: .all, promise: nil) }

  /// Reads again what there was no turn for.
  func readAgain() {
    isReading = false
    if let sendError { return endAfter(sendError) }
    if isActive, wantsRead, mayRead { receive() }
  }

  private func readNextTurn() {
    guard !isReading else { return }
    isReading = true
    loop.readLater(self)
  }

  /// Reads up to the end of the input, whether that is asked for or not: whoever waits for something else is to know of
  /// the end, and what the system holds is little.
  /// - Returns: whether the channel is open.
  private func readToEnd() -> Bool {
    isReading = true
    while isActive, !hasInputEnded, mayRead { receive() }
    isReading = false
    return isActive
  }

  /// The connection was cut off.
  private func reset() {
    let code = SystemSocket.takeError(descriptor)
    let error = IOError(errnoCode: code == 0 ? ECONNRESET : code, reason: "connection reset")
    close0(error: error, mode: .all, promise: nil)
  }

  // MARK: Input

  /// Whether everything that a handler may ask for is possible.
  package var isActive: Bool { if case .active = phase { true } else { false } }

  package func read0() {
    guard isActive, !hasInputEnded else { return }
    wantsRead = true
    if mayRead { readNextTurn() }
  }

  /// Reads once, and hands on what that brings.
  private func receive() {
    var buffer = loop.receiveBuffers.take(receiveBufferMode)
    let room = buffer.writableBytes
    var code: CInt = 0
    let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { space in
      let count = receiveBytes(descriptor, space)
      if count <= 0 { code = count == 0 ? Self.end : errno }
      return max(0, count)
    }
    loop.receiveBuffers.give(buffer, receiveBufferMode)
    switch code {
    case 0:
      wantsRead = false
      mayRead = count == room || isEndReported
      handOn(buffer)
    case EAGAIN, EWOULDBLOCK: mayRead = false
    case Self.end:
      mayRead = false
      readComplete(reader)
      if isActive { close0(error: ChannelError.eof, mode: allowsRemoteHalfClosure ? .input : .all, promise: nil) }
    default:
      let error = IOError(errnoCode: code, reason: "recv")
      pipeline.syncOperations.fireErrorCaught(error)
      close0(error: error, mode: .all, promise: nil)
    }
  }

  /// Stands for the end of the input among the numbers of errors.
  private static let end: CInt = -1

  private func handOn(_ buffer: ByteBuffer) {
    let reader = reader
    if let reader {
      reader.socketRead(buffer)
    } else {
      pipeline.syncOperations.fireChannelRead(NIOAny(buffer))
    }
    guard isActive else { return }
    readComplete(reader)
    if reader == nil, isActive, !wantsRead { pipeline.syncOperations.read() }
    if wantsRead, mayRead, isActive { readNextTurn() }
  }

  private func readComplete(_ reader: (any SocketReader)?) {
    if let reader { reader.socketReadComplete() } else { pipeline.syncOperations.fireChannelReadComplete() }
  }

  // MARK: Output

  package var isWritable: Bool { takesWrites }

  /// Bytes that the system has not taken.
  package var waitingBytes: Int { pending.byteCount }

  /// Bytes that the system has taken, and the peer not acknowledged. 0 where it does not tell.
  package var unacknowledgedBytes: Int { isActive ? SystemSocket.unacknowledgedBytes(descriptor) : 0 }

  /// Sends at once, past the pipeline: what the system does not take waits behind what is waiting.
  @inline(__always)
  package func send(_ bytes: ByteBuffer) {
    var count = 0
    if pending.isEmpty, isActive, case .open = output {
      count = max(0, bytes.withUnsafeReadableBytes { sendBytes(descriptor, $0) })
      if count == bytes.readableBytes { return }
    }
    sendRest(bytes, from: count)
  }

  private func sendRest(_ bytes: ByteBuffer, from start: Int) {
    var rest = bytes
    rest.moveReaderIndex(forwardBy: start)
    append(rest, nil)
    flush0()
  }

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
    guard case .open = output else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    pending.append(bytes, promise, spare: &loop.spareWrites)
    if takesWrites, pending.byteCount > Self.highWaterMark {
      takesWrites = false
      pipeline.syncOperations.fireChannelWritabilityChanged()
    }
  }

  package func flush0() {
    pending.flush()
    if isActive, !isFull, pending.hasFlushed { sendPending() }
  }

  private func sendPending() {
    let (outcome, sent) = pending.send(to: descriptor, spare: &loop.spareWrites)
    switch outcome {
    case .all: if isLocal { watchOutput(false) }
    case .full:
      isFull = true
      watchOutput(true)
    case .failed: break
    }
    for promise in sent { promise.succeed() }
    if case .failed(let code) = outcome { return sendFailed(IOError(errnoCode: code, reason: "send")) }
    guard isActive else { return }
    if !takesWrites, pending.byteCount < Self.lowWaterMark {
      takesWrites = true
      pipeline.syncOperations.fireChannelWritabilityChanged()
    }
    // Not by the outcome: a handler may have written since.
    if pending.isEmpty, case .ending(let promises) = output { endOutput(promises) }
  }

  /// The peer takes nothing more. The connection ends in the next turn, when what the peer has sent before was read, as
  /// that is mostly why: now a handler may be in the middle of reading, or of the write that has failed.
  private func sendFailed(_ error: any Error) {
    isFull = true
    guard isActive, sendError == nil else { return }
    sendError = error
    loop.readLater(self)
  }

  private func endAfter(_ error: any Error) {
    mayRead = true
    if readToEnd() { close0(error: error, mode: .all, promise: nil) }
  }

  private func endOutput(_ promises: [EventLoopPromise<Void>]) {
    output = .ended
    SystemSocket.endOutput(descriptor)
    if hasInputEnded {
      close0(error: ChannelError.outputClosed, mode: .all, promise: nil)
      for promise in promises { promise.succeed() }
      return
    }
    for promise in promises { promise.succeed() }
    if isActive { pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.outputClosed) }
  }

  // MARK: Ends

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
    let promises = promise.map { [$0] } ?? []
    switch output {
    case .open where !pending.isEmpty: output = .ending(promises)
    case .open where hasInputEnded: closeAll(error, promise)
    case .open: endOutput(promises)
    case .ending(let earlier): output = .ending(earlier + promises)
    case .ended: promise?.fail(ChannelError.outputClosed)
    }
  }

  private func closeInput(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    guard !hasInputEnded else {
      promise?.fail(ChannelError.inputClosed)
      return
    }
    if case .ended = output { return closeAll(error, promise) }
    hasInputEnded = true
    wantsRead = false
    promise?.succeed()
    pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  private func closeAll(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let before = phase
    phase = .closed
    if isRegistered { loop.forget(descriptor) }
    SystemSocket.close(descriptor)
    for promise in pending.takeAll() { promise.fail(error) }
    if case .ending(let promises) = output { for promise in promises { promise.fail(error) } }
    output = .ended
    promise?.succeed()
    switch before {
    case .active:
      pipeline.syncOperations.fireChannelInactive()
      pipeline.syncOperations.fireChannelUnregistered()
    case .connecting(let promise, let timeout):
      if let timeout { loop.cancel(timeout) }
      promise.fail(error)
    case .new, .closed: break
    }
    // Later: whoever closes may be in the middle of the pipeline.
    loop.execute { [self] in
      reader = nil
      removeHandlers(pipeline: pipeline)
      closePromise.succeed()
    }
  }

  // MARK: The rest of a channel

  package var allocator: ByteBufferAllocator { ByteBufferAllocator() }
  package var closeFuture: EventLoopFuture<Void> { closePromise.futureResult }
  package var pipeline: ChannelPipeline {
    guard let channelPipeline else { preconditionFailure("a channel has its pipeline from its initializer on") }
    return channelPipeline
  }
  package var parent: (any Channel)? { nil }
  package var eventLoop: any EventLoop { loop }
  package var _channelCore: any ChannelCore { self }
  package var localAddress: SocketAddress? { try? localAddress0() }
  package var remoteAddress: SocketAddress? { try? remoteAddress0() }

  package func localAddress0() throws -> SocketAddress {
    if case .closed = phase { throw ChannelError.ioOnClosedChannel }
    return try SystemSocket.localAddress(descriptor)
  }

  package func remoteAddress0() throws -> SocketAddress {
    if let acceptedPeer { return acceptedPeer }
    if case .closed = phase { throw ChannelError.ioOnClosedChannel }
    return try SystemSocket.peerAddress(descriptor)
  }

  package func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }

  package func bind0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  package func connect0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  package func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }

  package func channelRead0(_ data: NIOAny) {}

  package func errorCaught0(error: any Error) {}

  /// The only option that a channel has is ``receiveBufferMode`` and the like.
  package func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
    loop.makeFailedFuture(ChannelError.operationUnsupported)
  }

  package func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
    loop.makeFailedFuture(ChannelError.operationUnsupported)
  }
}

/// `recv(2)`, again after an interruption.
@inline(__always)
private func receiveBytes(_ socket: CInt, _ space: UnsafeMutableRawBufferPointer) -> Int {
  while true {
    let count = recv(socket, space.baseAddress, space.count, CInt(MSG_DONTWAIT))
    if count >= 0 || errno != EINTR { return count }
  }
}
