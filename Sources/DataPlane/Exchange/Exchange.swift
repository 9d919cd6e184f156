internal import HTTPWire
internal import NIOCore

/// The state machine of one request and its response, whatever transport they travel by.
///
/// Events go in, the step to take comes out. It has no clock, no channel and no observer; ``DownstreamTransport``'s
/// driver performs the steps. Its memory serves a connection from request to request.
struct Exchange {
  private(set) var request = RequestState.idle
  private(set) var response = ResponseState.awaited
  var upstream = UpstreamRequest()
  var info = ExchangeInfo()
  /// Kept for the reviews of an exchange, once it has had one.
  var review: ExchangeReview?
  /// Whether it has had a request, of which the next one must not find anything.
  private var isUsed = false

  /// Whether an exchange is under way: from the whole head of its request to the end of its response.
  @inline(__always)
  var isUnderWay: Bool { !request.isIdle }

  /// Whether the final response has begun.
  @inline(__always)
  var hasResponse: Bool { if case .begun = response { true } else { false } }

  /// Whether the rest of a body may take its time: streams in both directions are made of pauses. An HTTP/1.1
  /// connection whose response began before its request was whole closes after it, and is not kept open by that body.
  private var allowsPauses: Bool { hasResponse && info.version == .http2 }

  /// Whether the deadline of the body applies.
  var hasBodyDeadline: Bool {
    switch request {
    case .body, .collecting: !allowsPauses
    case .idle, .deciding, .handling, .complete, .switching, .tunnel, .unread: false
    }
  }

  // MARK: The head

  /// The head of a request is whole, or refused.
  /// - Parameter isWhole: whether all of the request has arrived.
  mutating func begin(
    _ identifier: RequestIDSource.Identifier, _ version: HTTPVersion, isWhole: Bool, at now: NIODeadline
  ) {
    if isUsed { clear() }
    isUsed = true
    info.began = now
    info.requestID = identifier
    info.version = version
    request = .deciding(isWhole: isWhole)
  }

  /// Forgets the request before. Its memory serves from request to request.
  private mutating func clear() {
    info.requestLine?.clear()
    let line = info.requestLine
    self = Exchange()
    info.requestLine = line
  }

  /// The gate answers.
  mutating func answer(label: RequestLabel) {
    info.label = label
    guard case .deciding(let isWhole) = request else { return }
    request = isWhole ? .complete : .unread
  }

  /// An endpoint is to answer.
  /// - Returns: the refusal of a body that is too large before it is read.
  mutating func admit(_ action: EndpointAction, framing: RequestFraming) -> Refusal? {
    info.label = action.label
    if case .length(let length) = framing, length > action.bodyLimit { return .bodyTooLarge }
    return nil
  }

  /// An endpoint answers once the body is collected.
  /// - Returns: whether all of the request has arrived.
  mutating func collect(_ call: EndpointCall) -> Bool {
    guard case .deciding(let isWhole) = request else { return false }
    request = .collecting(call)
    return isWhole
  }

  /// The traits of a request that decide how it goes upstream.
  struct RequestTraits {
    let framing: RequestFraming
    /// Whether it asks for a switch of protocols.
    let wantsUpgrade: Bool
    /// Whether the upstream may take its connection for the user's after the request.
    let authenticatesConnection: Bool
    /// Whether bytes have come after the head.
    let hasSurplus: Bool
  }

  /// The request goes upstream.
  /// - Parameter limits: the listener's limits of the body.
  /// - Returns: the refusal, where it cannot.
  mutating func forward(
    _ traits: RequestTraits, by directive: inout ForwardingDirective, to balancer: consuming UpstreamBalancer?,
    limits: BodyLimits, at now: NIODeadline
  ) -> Refusal? {
    info.label = directive.label
    info.session = directive.session
    info.credential = directive.credential
    info.user = directive.user
    // Moved, as the balancer is below, because a copy would be retained.
    upstream.privateLines = directive.privateLines.take()
    upstream.binding = directive.binding.take()
    guard let balancer = consume balancer, case .deciding(let isWhole) = request else { return .noUpstream }
    let framing = traits.framing
    let upgrades = directive.allowsUpgrade && traits.wantsUpgrade
    let hasBody = !framing.isNone
    let endsConnection = balancer.endsConnection(info.method, hasBody: hasBody)
    let requestBuffer = framing.isChunked ? balancer.requestBuffer : 0
    let speaksHTTP2 = balancer.speaksHTTP2
    upstream.balancer = consume balancer
    if upgrades {
      if let refusal = upgradeRefusal(isWhole: isWhole, hasBody: hasBody, hasSurplus: traits.hasSurplus) {
        return refusal
      }
    } else if !isWhole, !hasBody {
      return .unframedContent
    } else if let limit = limits.bytes, exceeds(limit, framing) {
      return .bodyTooLarge
    }
    upstream.authenticatesConnection = traits.authenticatesConnection
    upstream.endsConnection = traits.authenticatesConnection || endsConnection
    upstream.isChunked = framing.isChunked
    if upstream.isChunked, !upgrades {
      upstream.bufferLimit = requestBuffer
      if upstream.bufferLimit > 0, info.receivedBytes > upstream.bufferLimit { return .lengthRequired }
    }
    if upgrades {
      request = .switching
      // Over HTTP/2 bytes may have been sent behind the handshake.
      upstream.attempts.isRetryable = info.version != .http2 && info.method.isIdempotent
    } else if isWhole {
      request = .complete
      upstream.attempts.isRetryable = !hasBody && info.method.isIdempotent
    } else {
      // A stream may pause for as long as it likes, and gRPC is made of such.
      let rate = directive.bodyRate ?? (speaksHTTP2 ? 0 : limits.rate)
      request = .body(BodyPace(rate: rate, began: now))
    }
    return nil
  }

  /// The refusal of a request for an upgrade that brings more than its head; nil for one that does not.
  private func upgradeRefusal(isWhole: Bool, hasBody: Bool, hasSurplus: Bool) -> Refusal? {
    if hasBody { return .upgradeWithBody }
    // Over HTTP/1.1 the request ends with its head; over HTTP/2 its stream is open, and may carry bytes already.
    if info.version == .http2 { return isWhole ? .upgradeEnded : nil }
    return hasSurplus ? .upgradeWithSurplus : nil
  }

  /// Whether a body is larger than the limit: content that came while the gate was deciding counts as well.
  @inline(__always)
  private func exceeds(_ limit: Int, _ framing: RequestFraming) -> Bool {
    if case .length(let announced) = framing, announced > limit { return true }
    return info.receivedBytes > limit
  }

  // MARK: The body

  /// The step to take with content that arrived.
  enum ContentStep {
    /// Forward it.
    case forward(UpstreamConnection)
    /// Keep it until there is a connection, or a decision.
    case keep
    /// Keep it until the body is whole, and read on.
    case buffer
    case collect(EndpointCall)
    case tunnel(Tunnel)
    case discard
    case refuse(Refusal)
  }

  /// Content of the request has arrived.
  /// - Parameter limit: most bytes of a forwarded body.
  mutating func received(_ count: Int, limit: Int?) -> ContentStep {
    info.receivedBytes += count
    switch request {
    case .deciding, .switching: return .keep
    case .collecting(let call):
      return info.receivedBytes > call.action.bodyLimit ? .refuse(.bodyTooLarge) : .collect(call)
    case .body:
      if let limit, info.receivedBytes > limit { return .refuse(.bodyTooLarge) }
      if upstream.bufferLimit > 0, !hasResponse {
        return info.receivedBytes > upstream.bufferLimit ? .refuse(.lengthRequired) : .buffer
      }
      if let connection = upstream.connection { return .forward(connection) }
      return hasResponse ? .discard : .keep
    case .tunnel(let tunnel): return .tunnel(tunnel)
    case .idle, .handling, .complete, .unread: return .discard
    }
  }

  /// Whether the body, with `more` bytes of it just read, arrives more slowly than it has to.
  func isBodyTooSlow(more: Int, at now: NIODeadline, grace: TimeAmount) -> Bool {
    let pace: BodyPace
    switch request {
    case .body(let body): pace = body
    case .collecting(let call): pace = call.pace
    case .idle, .deciding, .handling, .complete, .switching, .tunnel, .unread: return false
    }
    guard pace.rate > 0, !allowsPauses else { return false }
    return pace.isTooSlow(received: info.receivedBytes + more, at: now, grace: grace)
  }

  /// The client's body is not read from now on, or is read again.
  mutating func holdBody(_ hold: Bool, at now: NIODeadline) {
    guard case .body(var pace) = request else { return }
    pace.hold(hold, at: now)
    request = .body(pace)
  }

  /// The step to take at the end of a request.
  enum EndStep {
    /// Send the end of the body to the upstream; nil: it is sent with the head, later.
    case forward(UpstreamConnection?)
    /// The body was collected: send the request.
    case send
    case handle(EndpointCall)
    /// The client ends its side of a tunnel.
    case endTunnel(Tunnel)
    /// The client gives up a switch of protocols.
    case withdraw
    case nothing
  }

  /// All of the request has arrived.
  mutating func receivedEnd(trailers: [UInt8]) -> EndStep {
    switch request {
    case .deciding:
      request = .deciding(isWhole: true)
      upstream.trailers = trailers
      return .nothing
    case .collecting(let call):
      request = .handling(call)
      return .handle(call)
    case .body:
      request = .complete
      upstream.trailers = trailers
      return upstream.bufferLimit > 0 && !hasResponse ? .send : .forward(upstream.connection)
    case .unread:
      request = .complete
      return .nothing
    case .tunnel(let tunnel):
      tunnel.inputHasEnded = true
      return .endTunnel(tunnel)
    case .switching:
      info.failure = .clientLeft
      return .withdraw
    case .idle, .handling, .complete: return .nothing
    }
  }

  // MARK: The upstream

  /// Whether the request is ready to be sent and nothing was asked of an upstream yet. Mutating, so that its transport
  /// need not copy it to ask.
  var isReadyToSend: Bool {
    mutating get {
      guard !hasResponse, upstream.head != nil, case .none = upstream.leg else { return false }
      return request.isBody && upstream.bufferLimit == 0 || request.isWhole
    }
  }

  /// A connection that was asked for has come.
  /// - Returns: whether it is still wanted.
  mutating func connected(_ connection: UpstreamConnection, at now: NIODeadline) -> Bool {
    guard upstream.isWaiting, !hasResponse, upstream.head != nil, request.isBody || request.isWhole else {
      return false
    }
    use(connection, at: now)
    return true
  }

  /// The request is sent on a connection.
  @inline(__always)
  mutating func use(_ connection: UpstreamConnection, at now: NIODeadline) {
    upstream.leg = .connected(connection)
    info.upstreamBegan = now
  }

  /// The step to take when the upstream has failed.
  enum FailureStep: Equatable {
    /// Send the request again, to another address than these.
    case retry(avoiding: UInt64)
    case refuse(Refusal)
    /// The response that has begun cannot be finished: only an early end shows that to the client.
    case abort
    case nothing
  }

  /// The upstream has failed; its connection is gone.
  mutating func upstreamFailed(_ failure: UpstreamFailure) -> FailureStep {
    if case .none = upstream.leg { return .nothing }
    guard isUnderWay else { return .nothing }
    upstream.leg = .none
    if hasResponse {
      info.failure = ExchangeFailure(failure)
      return .abort
    }
    if let avoided = upstream.prepareRetry(after: failure) {
      info.failure = nil
      return .retry(avoiding: avoided)
    }
    info.failure = ExchangeFailure(failure)
    return .refuse(Refusal(failure))
  }

  // MARK: The response

  /// The step to take with the final head of an upstream's response.
  enum ResponseStep: Equatable {
    case respond
    /// The upstream has switched protocols.
    case switchProtocols
    case refuse(Refusal)
  }

  /// The final head of the upstream's response has come.
  /// - Parameters:
  ///   - isWebSocket: whether the protocol that it switches to is WebSocket.
  ///   - acceptsKey: whether it accepts the key of an upgrade that the gateway has written.
  mutating func receivedResponse(
    _ status: Int, isWebSocket: Bool, acceptsKey: Bool, at now: NIODeadline
  ) -> ResponseStep {
    if request.isSwitching {
      if info.version == .http2 {
        if status / 100 == 2 { return .refuse(.upgradeAnswered) }
        if status == 101, !acceptsKey { return .refuse(.upgradeKeyIgnored) }
      }
      request = status == 101 ? .tunnel(Tunnel(isWebSocket: isWebSocket)) : .complete
    }
    response = .begun(status)
    info.upstreamDuration = now - info.upstreamBegan
    if case .sent = upstream.content { upstream.content = .none }
    return status == 101 ? .switchProtocols : .respond
  }

  /// The gateway itself responds.
  /// - Returns: whether it is not too late for that.
  mutating func respond(_ status: Int) -> Bool {
    guard isUnderWay, !hasResponse else { return false }
    response = .begun(status)
    switch request {
    case .deciding, .collecting, .body: request = .unread
    case .handling, .switching: request = .complete
    case .idle, .complete, .tunnel, .unread: break
    }
    if case .waiting = upstream.content { upstream.content = .none }
    return true
  }

  /// The request is malformed in a way that has no response.
  mutating func reject(_ status: Int) { response = .rejected(status) }

  /// Whether an endpoint's response is still wanted: the client may have gone, and another request begun.
  func isHandling(_ call: EndpointCall) -> Bool {
    if case .handling(let current) = request { current === call } else { false }
  }

  // MARK: Time

  /// The step to take when the deadline of an exchange has passed.
  enum TimeoutStep: Equatable {
    case refuse(Refusal)
    /// The upstream has had its time to answer a client that has ended its side of a tunnel.
    case closeTunnel
    case abort
  }

  /// The deadline has passed.
  func timedOut() -> TimeoutStep {
    switch request {
    case .body(let pace) where !hasResponse: .refuse(pace.heldSince == nil ? .bodyTimeout : .bodyNotTaken)
    case .collecting: .refuse(.bodyTimeout)
    case .tunnel(let tunnel) where tunnel.inputHasEnded && upstream.connection != nil: .closeTunnel
    case .idle, .deciding, .handling, .body, .complete, .switching, .tunnel, .unread: .abort
    }
  }

  // MARK: The end

  /// The gateway aborts the exchange.
  mutating func aborted() { if info.failure == nil { info.failure = .aborted } }

  /// The client has ended its side within the body.
  mutating func bodyTruncated() { if hasResponse, info.failure == nil { info.failure = .clientLeft } }

  /// The client has gone.
  /// - Parameter isSent: whether all of the response was sent.
  mutating func clientLeft(isSent: Bool) {
    // Either side may end a tunnel: that is how one ends.
    if !isSent, response != .begun(101), info.failure == nil { info.failure = .clientLeft }
    if response == .awaited { response = .rejected(499) }
  }

  /// The exchange is over.
  mutating func end() { request = .idle }

  /// The final status; 0 before there is one.
  var status: Int {
    switch response {
    case .awaited: 0
    case .begun(let status), .rejected(let status): status
    }
  }
}
