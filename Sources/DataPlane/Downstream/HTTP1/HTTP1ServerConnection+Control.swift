internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// The way of a request that the control plane answers: collected whole, within its limit.
extension HTTP1ServerConnection {
  func collect(_ action: EndpointAction, _ whole: ByteBuffer) {
    let loop = server.loop
    exchange.routeClass = action.routeClass
    let framing = loop.requestHead.framing
    var rest = whole
    rest.moveReaderIndex(forwardBy: loop.requestHead.byteCount)
    request = framing == .none ? .complete : .content
    if case .length(let length) = framing, length > action.bodyLimit {
      pending = whole
      return refuse(413, "the request body is larger than the limit")
    }
    let control = ControlRequest(
      head: ControlRequestReading.request(
        loop.requestHead, whole.readableBytesSpan, scheme: server.rules.scheme), client: client,
      requestID: exchange.requestID.description)
    exchange.control = ControlCollection(action: action, request: control)
    if framing == .none {
      if rest.readableBytes > 0 {
        pending = rest
        holdPending()
      }
      return perform()
    }
    exchange.decoder = BodyDecoder(framing)
    exchange.bodyBegan = .now()
    loop.wheel.arm(self, after: server.waits.bodyProgress, now: exchange.began)
    if loop.requestHead.expectsContinue, rest.readableBytes == 0 { sendContinue() }
    if rest.readableBytes > 0 { collectContent(&rest) }
  }

  /// Tells a client that waits for it to go on (RFC 9110 10.1.1): the head has passed, and the body is wanted.
  func sendContinue() { context?.writeAndFlush(wrapOutboundOut(Self.continueResponse), promise: nil) }

  private static let continueResponse = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

  func collectContent(_ buffer: inout ByteBuffer) {
    guard let limit = exchange.control?.action.bodyLimit else { return }
    while true {
      switch exchange.decoder.next(&buffer) {
      case .content(let count):
        exchange.receivedBytes += count
        guard exchange.receivedBytes <= limit else {
          return refuse(413, "the request body is larger than the limit")
        }
        guard let bytes = buffer.readBytes(length: count) else { return }
        exchange.control?.request.body += bytes
      case .incomplete: return
      case .end:
        request = .complete
        server.loop.wheel.disarm(self)
        if buffer.readableBytes > 0 {
          pending = buffer
          holdPending()
        }
        return perform()
      case .violation(let violation): return refuse(400, violation.rawValue)
      }
    }
  }

  private func perform() {
    guard let control = exchange.control else { return }
    let request = control.request
    let work = control.action.perform
    let eventLoop = server.loop.eventLoop
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let identifier = exchange.requestID
    Task {
      let response = await work(request)
      eventLoop.execute { bound.value.performed(response, for: identifier) }
    }
  }

  private func performed(_ response: ControlResponse, for identifier: RequestIDSource.Identifier) {
    // The client may have gone, and another exchange begun, while the control plane was thinking.
    guard request == .complete, exchange.isUnderWay, exchange.requestID.low == identifier.low else { return }
    respond(response)
  }
}
