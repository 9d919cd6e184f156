internal import HTTPTypes
internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// The outcome of asking the gate.
enum AuthorizationOutcome {
  /// The gate has asked for time: the transport keeps the head until `authorizeAgain()`.
  case suspended
  /// The request goes upstream. Its transport calls `connectUpstream(at:)` once it has taken what came with the head.
  case forwarding
  /// An endpoint answers.
  case endpoint
  /// The request was answered.
  case answered
}

/// The gate: authorize, suspend and authorize again, and the step that each decision leads to.
extension DownstreamTransport {
  /// The client: the one behind a trusted proxy, if that names one, else the peer.
  @inline(__always)
  var client: ClientPeer { exchange.info.client ?? peer }

  /// Begins an exchange: a head is whole, or refused.
  @inline(__always)
  func beginExchange(_ version: HTTPVersion, isWhole: Bool, at now: NIODeadline) {
    server.exchangeBegan()
    exchange.begin(loop.requestIDs.next(), version, isWhole: isWhole, at: now)
  }

  /// Asks the gate to decide on the request whose head is in the loop's ``LoopResources/requestHead``.
  func authorize(_ bytes: RawSpan, at now: NIODeadline) -> AuthorizationOutcome {
    // Once: each look into the server would retain what it finds.
    let rules = server.configuration.rules
    rules.findGatewayCookies(bytes, in: &loop.requestHead)
    exchange.info.note(loop.requestHead, bytes, wanted: server.wantedFields)
    if peer.isTrusted { exchange.info.believeProxy(peer, loop.requestHead, bytes, server.configuration.trustedProxies) }
    if server.configuration.redirects {
      exchange.answer(label: .undecided)
      let origin = rules.origin(of: bytes.array(loop.requestHead.authority))
      respond(.redirect(to: origin, loop.requestHead, bytes))
      return .answered
    }
    switch server.decide(loop.requestHead, bytes, client, exchange.info.requestID) {
    case .forward(let directive): return forward(directive, bytes, rules, at: now)
    case .answer(let response, let label):
      exchange.answer(label: label)
      respond(response)
      return .answered
    case .answerAndLog(let response, let label, let log):
      log(peer.address)
      exchange.answer(label: label)
      respond(response)
      return .answered
    case .handle(let action): return collect(action, bytes)
    case .suspend(let work):
      exchange.info.suspensions += 1
      guard exchange.info.suspensions <= ExchangeInfo.mostSuspensions else {
        refuse(.undecided, ClientPreferences(loop.requestHead, bytes))
        return .answered
      }
      let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
      let eventLoop = loop.eventLoop
      Task {
        await work()
        eventLoop.execute { bound.value.authorizeAgain() }
      }
      return .suspended
    }
  }

  /// Prepares the request for the upstream.
  private func forward(
    _ directive: consuming ForwardingDirective, _ bytes: RawSpan, _ rules: ForwardingRules, at now: NIODeadline
  ) -> AuthorizationOutcome {
    let balancer = directive.upstream < server.upstreams.count ? server.upstreams[directive.upstream] : nil
    let traits = Exchange.RequestTraits(
      framing: loop.requestHead.framing, wantsUpgrade: loop.requestHead.wantsUpgrade,
      authenticatesConnection: loop.requestHead.authenticatesConnection(bytes), hasSurplus: hasBytesBehindHead)
    var refusal = exchange.forward(
      traits, by: &directive, to: consume balancer, limits: server.configuration.bodyLimits, at: now)
    let rewriting = findRewriting(forUpstream: directive.upstream, bytes, rules, &refusal)
    expectReviews()
    if let refusal {
      refuse(refusal, ClientPreferences(loop.requestHead, bytes))
      return .answered
    }
    exchange.upstream.binding?.mark(bytes, in: &loop.requestHead)
    var head = loop.heads.take()
    RequestForwarding.write(
      loop.requestHead, bytes, rules: rules,
      context: RequestForwarding.Context(
        // Moved, because a copy would be retained.
        identity: directive.identity.take(), address: peer.address, trusted: peer.isTrusted,
        requestID: exchange.info.requestID, upgrades: exchange.request.isSwitching,
        dropsAuthorization: directive.dropsAuthorization, dropsMethodOverride: directive.dropsMethodOverride,
        closes: exchange.upstream.endsConnection, rewriting: rewriting), to: &head)
    guard head.readableBytes <= SentHead.largest else {
      loop.heads.give(head)
      refuse(.headTooLarge, ClientPreferences(loop.requestHead, bytes))
      return .answered
    }
    exchange.upstream.head = consume head
    if exchange.request.isBody {
      if loop.requestHead.expectsContinue, !hasBytesBehindHead { sendContinue() }
      awaitBody(now)
      // A collected body must not wait for room, which only an upstream connection would grant.
      if exchange.upstream.bufferLimit > 0 { consumeAll() }
    }
    return .forwarding
  }

  /// The rewriting for a request to the upstream of this number; nil if the request needs none.
  /// - Parameter refusal: that of a request outside of the upstream's prefix, unless it has another.
  @inline(__always)
  private func findRewriting(
    forUpstream number: Int, _ bytes: RawSpan, _ rules: ForwardingRules, _ refusal: inout Refusal?
  ) -> UpstreamRewriting? {
    let destination = loop.requestHead.fields.line(.destination)
    if let destination { exchange.upstream.destination = bytes.array(destination.value) }
    let found = server.rewriting(at: number, hasDestination: destination != nil)
    guard let rewriting = found, rewriting.prefix != nil, !loop.requestHead.isAsteriskForm else { return found }
    if let stripped = rewriting.strippedPath(bytes, loop.requestHead.path) {
      exchange.upstream.addsSlash = stripped.addsSlash
    } else {
      refusal = refusal ?? .outsidePrefix
    }
    if RequestForwarding.leavesPrefix(rewriting, loop.requestHead, bytes, rules) {
      refusal = refusal ?? .destinationOutsidePrefix
    }
    return rewriting
  }

  // MARK: Endpoints

  /// Collects the request for an endpoint: whole, within its limit.
  private func collect(_ action: EndpointAction, _ bytes: RawSpan) -> AuthorizationOutcome {
    if let refusal = exchange.admit(action, framing: loop.requestHead.framing) {
      refuse(refusal, ClientPreferences(loop.requestHead, bytes))
      return .answered
    }
    let request = ControlRequest(
      head: ControlRequestReading.request(loop.requestHead, bytes, scheme: server.configuration.rules.scheme),
      client: client, requestID: exchange.info.requestID.description)
    let now = NIODeadline.now()
    let pace = BodyPace(rate: server.configuration.bodyLimits.rate, began: now)
    let call = EndpointCall(action: action, request: request, pace: pace)
    let expectsContinue = loop.requestHead.expectsContinue
    let isWhole = exchange.collect(call)
    if !isWhole {
      awaitBody(now)
      if expectsContinue, !hasBytesBehindHead { sendContinue() }
    }
    if let early = exchange.upstream.takeWaiting() {
      guard exchange.info.receivedBytes <= action.bodyLimit else {
        refuse(.bodyTooLarge)
        return .answered
      }
      guard collect(early, for: call) else { return .answered }
    }
    if isWhole { receiveEnd(trailers: []) }
    return .endpoint
  }

  /// - Returns: whether to continue; otherwise the request has been refused, to make room for others.
  func collect(_ content: ByteBuffer, for call: EndpointCall) -> Bool {
    call.request.body += content.readableBytesView
    let memory = call.memory ?? CollectedBodyMemory(forEndpointOf: self)
    call.memory = memory
    guard memory.hold(call.request.body.capacity) else { return false }
    consume(content.readableBytes)
    return true
  }

  func handle(_ call: EndpointCall) {
    call.memory = nil
    loop.wheel.disarm(self)
    let request = call.request
    guard let work = server.present(call.action, for: request)?.handle else {
      return respond(ControlResponse(.notFound))
    }
    let eventLoop = loop.eventLoop
    let bound = NIOLoopBound((self, call), eventLoop: eventLoop)
    Task {
      let response = await work(request)
      eventLoop.execute {
        let (transport, call) = bound.value
        if transport.exchange.isHandling(call) { transport.respond(response) }
      }
    }
  }
}

extension ControlResponse {
  /// The redirect of a request to the same path and query at another origin. Not stored: a host may become another
  /// application's by a reload.
  fileprivate static func redirect(
    to origin: String, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> ControlResponse {
    let target = PercentEncoding.requestTarget(bytes.array(head.pathAndQuery))
    return ControlResponse(
      .permanentRedirect,
      fields: [
        .location: origin + (head.isAsteriskForm || target.isEmpty ? "/" : target), .cacheControl: "no-store",
      ])
  }
}
