package import NIOCore

/// A socket that is being connected: it becomes the ``SocketChannel`` of the connection, or fails.
///
/// Its state is touched on its loop only, as the properties marked as unsafe rely on.
final class ConnectingSocket: PolledDescriptor, Sendable {
  private enum State {
    case connecting(timeout: LoopTimer?)
    /// It has failed, or the descriptor is that of a channel.
    case over
  }

  private let loop: SocketEventLoop
  private let descriptor: CInt
  private let promise: EventLoopPromise<any Channel>
  nonisolated(unsafe) private var state = State.connecting(timeout: nil)
  nonisolated(unsafe) private var interest: SocketInterest

  /// - Parameters:
  ///   - isLocal: whether it is a Unix socket.
  ///   - promise: of the channel.
  init(_ descriptor: CInt, isLocal: Bool, _ promise: EventLoopPromise<any Channel>, on loop: SocketEventLoop) {
    self.loop = loop
    self.descriptor = descriptor
    self.promise = promise
    interest = SocketInterest(isLocal: isLocal)
  }

  func connect(to address: SocketAddress, timeout: TimeAmount) {
    do {
      // Others wait for room in the queue of this address, and come first.
      let queue = loop.connectQueues.isEmpty ? nil : loop.connectQueues[address]
      let progress = try queue == nil ? SystemSocket.connect(descriptor, to: address) : .queueFull
      if progress != .connected {
        state = .connecting(timeout: loop.after(timeout) { [self] in fail(ChannelError.connectTimeout(timeout)) })
      }
      guard try !proceed(from: progress) else { return }
      let waiting = queue ?? ConnectQueue(to: address, on: loop)
      waiting.append(self)
      loop.connectQueues[address] = waiting
    } catch {
      fail(error)
    }
  }

  /// Connects to a Unix socket again whose queue was full, as the system itself does with TCP: its server is slow, and
  /// not away. Until then the socket is not registered, which would be reported as hung up.
  /// - Returns: false if the queue is full as before.
  func connectAgain(to address: SocketAddress) -> Bool {
    guard case .connecting = state else { return true }
    do {
      return try proceed(from: SystemSocket.connect(descriptor, to: address))
    } catch {
      fail(error)
      return true
    }
  }

  /// - Returns: false if the queue of a Unix socket is full.
  private func proceed(from progress: SystemSocket.ConnectProgress) throws -> Bool {
    switch progress {
    case .connected:
      try register(for: .stream)
      connected()
    case .underWay: try register(for: Readiness.stream.union(.output))
    case .queueFull: return false
    }
    return true
  }

  private func register(for readiness: Readiness) throws {
    try loop.register(self, descriptor, for: interest.beginning(with: readiness))
    interest.registered()
  }

  func ready(_ readiness: Readiness) {
    guard !readiness.isDisjoint(with: [.output, .hangUp, .error]) else { return }
    let code = SystemSocket.takeError(descriptor)
    guard code == 0 else { return fail(IOError(errnoCode: code, reason: "connect")) }
    connected()?.ready(readiness)
  }

  /// - Returns: the channel, which has the descriptor from now on; nil if the attempt was over.
  @discardableResult
  private func connected() -> SocketChannel? {
    guard end() else { return nil }
    let channel = SocketChannel(connected: descriptor, interest, on: loop)
    loop.handOver(descriptor, to: channel)
    channel.openConnected(promise)
    return channel
  }

  /// Closes the socket, unless it is connected.
  func cancel() { fail(CancellationError()) }

  func loopEnds() { fail(EventLoopError.shutdown) }

  private func fail(_ error: any Error) {
    guard end() else { return }
    if interest.isRegistered { loop.forget(descriptor) }
    SystemSocket.close(descriptor)
    promise.fail(error)
  }

  /// - Returns: whether the attempt was not over yet.
  private func end() -> Bool {
    guard case .connecting(let timeout) = state else { return false }
    state = .over
    if let timeout { loop.cancel(timeout) }
    return true
  }
}

extension SocketChannel {
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
    return beginConnecting(to: address, on: loop, timeout: timeout, isKeptAlive: isKeptAlive).channel
  }

  /// Begins to connect to an address, on its loop.
  /// - Parameters: as those of ``connect(to:on:timeout:isKeptAlive:)``.
  package static func beginConnecting(
    to address: SocketAddress, on loop: SocketEventLoop, timeout: TimeAmount, isKeptAlive: Bool = false
  ) -> ConnectionAttempt {
    let promise = loop.makePromise(of: (any Channel).self)
    do {
      let descriptor = try SystemSocket.open(address.protocol)
      if isKeptAlive, address.protocol != .unix { KeepAlive.apply(to: descriptor) }
      let socket = ConnectingSocket(descriptor, isLocal: address.protocol == .unix, promise, on: loop)
      socket.connect(to: address, timeout: timeout)
      return ConnectionAttempt(channel: promise.futureResult, connecting: socket)
    } catch {
      promise.fail(error)
      return ConnectionAttempt(channel: promise.futureResult, connecting: nil)
    }
  }
}
