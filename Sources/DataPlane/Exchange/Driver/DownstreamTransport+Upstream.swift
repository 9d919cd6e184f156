internal import HTTPWire
internal import NIOCore

/// The way to an upstream: a connection, another try, the end of both.
extension DownstreamTransport {
  /// Sends the request that was prepared, on an idle connection or on one that is made.
  func connectUpstream(at now: NIODeadline) {
    guard exchange.isReadyToSend, let balancer = exchange.upstream.balancer else { return }
    let pool = balancer.choose()
    exchange.upstream.attempts.address = pool.number
    settleBody()
    if !exchange.upstream.endsConnection, let connection = takeIdle(of: pool) {
      exchange.use(connection, at: now)
      send(on: connection, at: now)
    } else {
      connect(in: pool)
    }
  }

  /// Takes an idle connection for the request. For a request that cannot be sent again, those are closed that the
  /// application has ended, although the event loop has not learnt of it yet.
  @inline(__always)
  private func takeIdle(of pool: UpstreamPool) -> UpstreamConnection? {
    while let connection = pool.takeIdle() {
      if exchange.upstream.attempts.isRetryable || !connection.hasUnreadInput { return connection }
      connection.close()
    }
    return nil
  }

  private func connect(in pool: UpstreamPool) {
    // Before the pool is asked: it may answer at once.
    exchange.upstream.leg = .waiting(nil)
    pauseBody(true)
    if let waiter = pool.connect(for: self) { exchange.upstream.leg = .waiting(waiter) }
  }

  /// Over HTTP/2 the gateway chooses the framing of the body, and of a body that was collected; otherwise it is the
  /// client's.
  @inline(__always)
  private func settleBody() {
    if exchange.info.version == .http2 || exchange.upstream.bufferLimit > 0, exchange.request.isWhole {
      exchange.upstream.settleBody(exchange.info.method)
    }
  }

  private func send(on connection: UpstreamConnection, at now: NIODeadline) {
    settleBody()
    guard let head = exchange.upstream.head else { return connection.release() }
    let isSwitching = exchange.request.isSwitching
    let isComplete = exchange.request.isWhole
    // Bytes that a client sends before the tunnel is open wait for it.
    let content =
      isSwitching || !exchange.upstream.hasFirstContent
      ? nil : exchange.upstream.takeFirstContent(isComplete: isComplete, rules: server.configuration.rules, loop)
    let awaited = UpstreamConnection.AwaitedHead(
      toHead: exchange.info.method.isHead, upgrades: isSwitching, isLast: exchange.upstream.endsConnection,
      requestIsComplete: isComplete)
    connection.begin(self, head: head, content: content, awaiting: awaited, now: now)
    if content != nil, connection.isWritable { consumeAll() }
  }

  func upstreamReady(_ connection: UpstreamConnection) {
    let now = NIODeadline.now()
    guard exchange.connected(connection, at: now) else { return connection.release() }
    send(on: connection, at: now)
    pauseBody(false)
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    switch exchange.upstreamFailed(failure) {
    case .retry(let avoided):
      guard let pool = exchange.upstream.balancer?.choose(avoiding: avoided) else { return }
      exchange.upstream.attempts.address = pool.number
      connect(in: pool)
    case .refuse(let refusal): refuse(refusal)
    case .abort: abortExchange(.upstreamFailed)
    case .nothing: break
    }
  }

  /// Gives up the connection to the upstream, or the wait for one.
  func leaveUpstream() {
    let leg = exchange.upstream.leg
    exchange.upstream.leg = .none
    switch leg {
    case .none, .waiting(nil): break
    case .waiting(let waiter?): waiter.withdraw()
    case .connected(let connection): connection.abandon()
    }
  }
}
