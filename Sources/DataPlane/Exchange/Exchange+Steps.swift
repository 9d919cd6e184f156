internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// The steps of an exchange that are the same whatever the client speaks.
extension Exchange {
  /// Begins: the head of a request is whole, or refused.
  mutating func begin(on server: ServerContext, at now: NIODeadline = .now()) {
    // Its memory serves from request to request.
    requestLine?.clear()
    self = Exchange(requestLine: requestLine)
    isUnderWay = true
    server.observer.exchangeBegan()
    began = now
    requestID = server.loop.requestIDs.next()
  }

  /// Notes what the head says of the whole exchange.
  mutating func note(_ head: borrowing RequestHead, _ bytes: RawSpan, from peer: ClientPeer, on server: ServerContext) {
    version = head.isHTTP11 ? .http11 : .http10
    method = head.method
    isHead = method == .head
    isGRPC = method == .post && GRPCStatus.isCall(head.fields, bytes)
    keepAlive = head.keepAlive
    if server.observer.wantsRequestLine { keepRequestLine(head, bytes, server.observer.wantedFields) }
    if peer.isTrusted { believeProxy(peer, head, bytes, server.trustedProxies) }
  }

  private mutating func keepRequestLine(_ head: borrowing RequestHead, _ bytes: RawSpan, _ wanted: WantedFields) {
    var line = requestLine ?? ByteBuffer()
    requestLine = nil
    // A head that waited for the gate is read a second time.
    line.clear()
    line.writeBytes(bytes.extracting(head.methodRange))
    line.writeStaticString(" ")
    line.writeBytes(bytes.extracting(head.path))
    if !wanted.isDisjoint(with: [.host, .userAgent, .referer]) {
      line.writeInteger(UInt8(0))
      if wanted.contains(.host) { line.writeBytes(bytes.extracting(head.authority)) }
      line.writeInteger(UInt8(0))
      if wanted.contains(.userAgent), let field = head.fields.line(.userAgent) {
        line.writeBytes(bytes.extracting(field.value))
      }
      line.writeInteger(UInt8(0))
      if wanted.contains(.referer) {
        for field in head.fields.lines where bytes.equalsIgnoringCase("referer", field.name) {
          line.writeBytes(bytes.extracting(field.value))
          break
        }
      }
    }
    requestLine = line
  }

  /// Takes the client's address and the request's identifier from a trusted proxy.
  private mutating func believeProxy(
    _ peer: ClientPeer, _ head: borrowing RequestHead, _ bytes: RawSpan, _ trustedProxies: [NetworkPrefix]
  ) {
    if head.fields.has(.xForwardedFor),
      let address = ForwardedClient.address(head.fields, bytes, trustedProxies: trustedProxies)
    {
      client = ClientPeer(address: address.description, isTrusted: peer.isTrusted, isTLS: peer.isTLS)
    }
    if let line = head.fields.line(.xRequestID), !head.fields.isRepeated(.xRequestID) {
      requestID.given = RequestIDSource.Identifier.wellFormed(bytes, line.value)
    }
  }

  /// Notes how the request is to be forwarded.
  mutating func note(_ order: ForwardingDirective, wantsUpgrade: Bool, on server: ServerContext) {
    routeClass = order.routeClass
    session = order.session
    credential = order.credential
    user = order.user
    balancer = order.upstream < server.upstreams.count ? server.upstreams[order.upstream] : nil
    // A stream from a client may pause for as long as it likes, and gRPC is made of such.
    bodyRate = order.bodyRate ?? (balancer?.speaksHTTP2 == true ? 0 : nil)
    personalLines = order.personalLines
    upgrades = order.allowsUpgrade && wantsUpgrade
  }

  /// Notes whether the connection to the upstream ends behind the request.
  @inline(__always)
  mutating func noteConnection(hasBody: Bool) {
    endsUpstream = balancer?.endsConnection(method, hasBody: hasBody) ?? false
  }

  /// Keeps what of the body is sent with the head, for an application that may not process the request.
  @inline(__always)
  mutating func keepReplay(_ content: ByteBuffer?) {
    guard let content, balancer?.speaksHTTP2 == true else { return }
    if content.readableBytes <= Self.replayLimit { replay = content } else { attempts.isReplayable = false }
  }

  /// More of the body was sent: the request cannot be sent again.
  @inline(__always)
  mutating func loseReplay() {
    attempts.isReplayable = false
    replay = nil
  }

  /// Most bytes of a body that are kept to be sent again.
  private static let replayLimit = 64 * 1024

  /// What of the request goes upstream and cannot be seen in its head.
  @inline(__always)
  func forwarding(_ order: ForwardingDirective, _ forwardedFor: [UInt8], trusted: Bool) -> RequestForwarding.Context {
    RequestForwarding.Context(
      identity: order.identity, forwardedFor: forwardedFor, trusted: trusted, requestID: requestID, upgrades: upgrades,
      dropsAuthorization: order.dropsAuthorization, closes: endsUpstream)
  }

  /// Puts content behind what is to go upstream, in a chunk of our own where the body is chunked: what goes upstream is
  /// framed by us, never by the client.
  @inline(__always)
  mutating func frame(_ slice: inout ByteBuffer, behind content: inout ByteBuffer?, _ loop: LoopResources) {
    if isChunked {
      var framed = content ?? loop.buffers.take()
      ChunkedEncoder.writeSize(slice.readableBytes, to: &framed)
      framed.writeBuffer(&slice)
      framed.writeStaticString("\r\n")
      content = framed
    } else if content == nil {
      content = slice
    } else {
      content?.writeBuffer(&slice)
    }
  }

  /// Waits for no connection to the upstream any more.
  mutating func leaveQueue() {
    guard let place else { return }
    self.place = nil
    place.leave()
  }

  /// The connections that a request is tried on once more, where that is safe.
  mutating func nextPool(after failure: UpstreamFailure) -> UpstreamPool? {
    guard let balancer, let avoided = attempts.avoided(after: failure, of: balancer.pools.count) else { return nil }
    let pool = balancer.choose(avoiding: avoided)
    attempts.place = pool.number
    if let replay {
      waitingContent = replay
      self.replay = nil
    }
    self.failure = nil
    return pool
  }

  /// Tells the observer that it is over.
  mutating func report(to server: ServerContext, from peer: ClientPeer, at now: NIODeadline = .now()) {
    isUnderWay = false
    ended = now
    server.observer.exchangeEnded(
      ExchangeRecord(
        status: status, routeClass: routeClass, duration: now - began, upstreamDuration: upstreamDuration,
        receivedBytes: receivedBytes, sentBytes: sentBytes, session: session, user: user, failure: failure,
        version: version, request: requestLine, client: (client ?? peer).address,
        requestID: requestID,
        upstreamAddress: server.observer.wantsRequestLine && server.observer.wantedFields.contains(.upstreamAddress)
          ? balancer?.pools[attempts.place].site.text : nil))
  }
}
