internal import HTTPWire
internal import NIOCore

/// The streams of a connection: how they begin, their sessions and their reviews.
extension HTTP2ServerConnection {
  var streams: [HTTP2ServerStream] { session.handlers.compactMap { $0 as? HTTP2ServerStream } }

  var sessions: [ConnectionKey] { streams.compactMap(\.session) }

  func endExchanges(of sessions: Set<ConnectionKey>, for ending: ExchangeEnding) {
    for stream in streams {
      if let session = stream.session, sessions.contains(session) { stream.end(for: ending, at: .now()) }
    }
  }

  func reviewExchanges(at now: NIODeadline) -> Bool {
    guard !life.isClosed else { return false }
    let streams = streams
    for stream in streams { stream.review(at: now) }
    return streams.contains { $0.isReviewable }
  }
}

extension HTTP2ServerConnection: HTTP2SessionHandler {
  func received(request head: RawSpan, on stream: HTTP2InboundStream, isWhole: Bool) -> any HTTP2StreamHandler {
    life.beginServing()
    let transport = transport(of: stream)
    transport.receive(head, isWhole: isWhole)
    return transport
  }

  func received(
    refusableOn stream: HTTP2InboundStream, head: RawSpan, status: Int, reason: String
  ) -> any HTTP2StreamHandler {
    life.beginServing()
    let transport = transport(of: stream)
    transport.receive(Refusal(status, reason), of: head)
    return transport
  }

  /// The transport of a stream that has begun: that of the closed one that it was, if any.
  private func transport(of stream: HTTP2InboundStream) -> HTTP2ServerStream {
    guard let former = session.takeFormerHandler() as? HTTP2ServerStream, former.stream === stream else {
      return HTTP2ServerStream(connection: self, stream: stream)
    }
    former.begin()
    return former
  }

  func receivedMalformed(_ reason: String) {
    life.beginServing()
    server.observer.exchangeBegan()
    let now = NIODeadline.now()
    var exchange = Exchange()
    exchange.begin(server.loop.requestIDs.next(), .http2, isWhole: false, at: now)
    exchange.reject(400)
    server.observer.exchangeEnded(exchange.record(of: peer, at: now))
  }

  func receivedPong() {
    guard life.stage == .draining else { return }
    session.goAway()
    flushSoon()
  }
}
