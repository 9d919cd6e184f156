internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// The response: the upstream's, or the gateway's own.
extension DownstreamTransport {
  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {
    if head.isInterim {
      // 100 Continue is the gateway's to send, and has been sent.
      guard exchange.info.version != .http10, head.status != 100 else { return }
      return sendInterim(head, bytes)
    }
    if let binding = exchange.upstream.binding,
      let personal = PrivateResponse.rewrite(head, bytes, binding, method: exchange.info.method)
    {
      var rewritten = ResponseHead()
      switch PrivateResponse.parser.parse(personal.span.bytes, into: &rewritten) {
      case .complete: finalHead(rewritten, personal.span.bytes, framing: framing)
      case .violation(let violation): refuseRewritten(violation.rawValue)
      case .incomplete: refuseRewritten("incomplete")
      }
      return
    }
    finalHead(head, bytes, framing: framing)
  }

  private func refuseRewritten(_ problem: String) {
    exchange.upstream.connection?.failWithoutHead(.badResponse("the rewritten header: \(problem)"))
  }

  private func finalHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {
    if UpstreamRewriting.concerns(head.fields) { prepareAddresses(head.fields) }
    guard prepareHead(head, bytes) else {
      exchange.upstream.connection?.failWithoutHead(.badResponse("response header too large for HTTP/2"))
      return
    }
    let switches = head.status == 101
    let isHTTP2 = exchange.info.version == .http2
    // An extended CONNECT asks for nothing else (RFC 8441).
    let isWebSocket =
      switches
      && (isHTTP2 || head.fields.line(.upgrade).map { bytes.equalsIgnoringCase("websocket", $0.value) } ?? false)
    // Over HTTP/1.1 the key is the client's, which looks at the answer itself.
    let acceptsKey = !switches || !isHTTP2 || isKeyAccepted(by: head, bytes)
    switch exchange.receivedResponse(
      head.status, isWebSocket: isWebSocket, acceptsKey: acceptsKey, at: loop.responseRead)
    {
    case .respond:
      if exchange.request.isBody, !exchange.hasBodyDeadline { loop.wheel.disarm(self) }
      sendHead(head, bytes, framing: framing)
    case .switchProtocols:
      server.observer.tunnelOpened()
      loop.wheel.disarm(self)
      sendSwitch(head, bytes)
      openTunnel()
    case .refuse(let refusal): refuse(refusal)
    }
  }

  /// Prepares the rewriting of addresses in the response, by the request that was sent.
  private func prepareAddresses(_ fields: borrowing FieldTable) {
    guard let balancer = exchange.upstream.balancer else { return }
    // Of cookies only path and domain are rewritten, and only where there is a prefix or a `Host` of the upstream.
    let hasAddress = fields.has(.location) || fields.has(.contentLocation) || fields.has(.refresh)
    guard hasAddress || balancer.rewritesCookies else { return }
    let sent = exchange.upstream.head
    let authority = sent.flatMap { SentHead.clientAuthority($0, &loop.requestHead) } ?? []
    exchange.upstream.addresses = AddressRewriting(
      server.rewriting(for: balancer), scheme: Array(server.configuration.rules.scheme.utf8), authority: authority,
      ownPathPrefix: server.configuration.rules.ownPathPrefix)
  }

  private func isKeyAccepted(by head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool {
    guard let sent = exchange.upstream.head else { return false }
    return SentHead.isKeyAccepted(of: sent, by: head, bytes, &loop.requestHead)
  }

  func responseContent(_ content: consuming ByteBuffer) {
    if let tunnel = exchange.request.tunnel { return carry(content, in: tunnel) }
    exchange.info.sentBytes += content.readableBytes
    sendContent(content)
  }

  func responseEnded(trailers: [UInt8]) {
    exchange.upstream.leg = .none
    if exchange.request.tunnel != nil { closeTunnel(clientMaySend: true) } else { sendEnd(trailers: trailers) }
  }

  // MARK: The gateway's own

  /// Answers with an error that the gate words.
  /// - Parameter preferences: what the client accepts, where the head is at hand.
  func refuse(_ refusal: Refusal, _ preferences: ClientPreferences? = nil) {
    refuse(preferences) {
      server.gate.failure(
        status: refusal.status, reason: refusal.reason, preferences: $0,
        requestID: exchange.info.requestID.description)
    }
  }

  /// Answers a request that was forwarded, and may not continue.
  func refuse(for ending: ExchangeEnding) {
    let body = exchange.bodyProgress
    refuse { known in
      var preferences = known
      preferences.body = body
      return server.gate.answer(
        to: ending, credential: exchange.info.credential, preferences: preferences,
        requestID: exchange.info.requestID.description)
    }
  }

  private func refuse(_ preferences: ClientPreferences? = nil, with answer: (ClientPreferences) -> ControlResponse) {
    let preferences = preferences ?? knownPreferences()
    leaveUpstream()
    // Too late for an error response: only an early end shows the failure to the client.
    if exchange.hasResponse { return abortExchange(.byGateway) }
    respond(answer(preferences))
  }

  /// The host, `Accept` and `Accept-Language`, however far the request got.
  private func knownPreferences() -> ClientPreferences {
    if let sent = exchange.upstream.head { return SentHead.preferences(sent, &loop.requestHead) }
    switch exchange.request {
    case .collecting(let call), .handling(let call):
      let (head, fields) = (call.request.head, call.request.head.headerFields)
      return ClientPreferences(
        authority: head.authority.map { Array($0.utf8) },
        accept: fields[.accept].map { Array($0.utf8) }, acceptLanguage: fields[.acceptLanguage].map { Array($0.utf8) })
    case .idle, .deciding, .body, .complete, .switching, .tunnel, .unread:
      return unparsedHead.map { ClientPreferences(unparsed: $0.readableBytesSpan) } ?? .unknown
    }
  }

  /// Sends a whole response.
  func respond(_ response: ControlResponse) {
    // The error is counted and logged, however it is expressed to the client.
    guard exchange.respond(response.head.status.code) else { return }
    loop.wheel.disarm(self)
    var response = exchange.info.isGRPC ? GRPCStatus.answer(response) : response
    server.configuration.rules.responseHeaders.add(to: &response)
    send(response)
  }

  // MARK: A client that is slow to read

  /// Begins to watch how fast the client takes what waits for it.
  func watchPace(at now: NIODeadline) {
    pace = ResponsePace(sent: exchange.info.sentBytes, waiting: unsentBytes, at: now)
    awaitClient(now)
  }

  private func awaitClient(_ now: NIODeadline) {
    loop.wheel.arm(self, after: min(server.configuration.waits.writeProgress, ResponsePace.interval), now: now)
  }

  private func enforceResponseRate() {
    let now = NIODeadline.now()
    let isTooSlow = pace?.isTooSlow(
      sent: exchange.info.sentBytes, waiting: unsentBytes, at: now,
      rate: exchange.request.tunnel == nil ? server.configuration.responseRate : 0,
      grace: server.configuration.bodyLimits.grace, patience: server.configuration.waits.writeProgress)
    if isTooSlow == true { abortExchange(.byGateway) } else { awaitClient(now) }
  }

  /// The deadline of an exchange that is under way has passed.
  func exchangeTimedOut() {
    if pace != nil { return enforceResponseRate() }
    switch exchange.timedOut() {
    case .refuse(let refusal): refuse(refusal)
    case .closeTunnel:
      leaveUpstream()
      closeTunnel(clientMaySend: false)
    case .abort: abortExchange(.byGateway)
    }
  }
}
