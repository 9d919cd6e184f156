internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// The way of a request that the control plane answers: collected whole, within its limit.
extension HTTP2ServerStream {
  func collect(_ action: EndpointAction, _ head: RawSpan) {
    let loop = server.loop
    exchange.routeClass = action.routeClass
    if case .length(let length) = loop.requestHead.framing, length > action.bodyLimit {
      return refuse(413, "the request body is larger than the limit")
    }
    let request = ControlRequest(
      head: ControlRequestReading.request(
        loop.requestHead, head, scheme: server.rules.scheme), client: client,
      requestID: exchange.requestID.description)
    exchange.control = ControlCollection(action: action, request: request)
    if phase == .complete { return perform() }
    phase = .content
    exchange.bodyBegan = .now()
    awaitContent(exchange.bodyBegan)
    if loop.requestHead.expectsContinue, exchange.waitingContent == nil { sendContinue() }
    if var waiting = exchange.waitingContent {
      exchange.waitingContent = nil
      collect(&waiting)
    }
  }

  func collect(_ content: inout ByteBuffer) {
    guard let limit = exchange.control?.action.bodyLimit else { return }
    guard exchange.receivedBytes <= limit else { return refuse(413, "the request body is larger than the limit") }
    let now = NIODeadline.now()
    if exchange.bodyIsTooSlow(now, more: 0, server) { return refuse(408, "the request body arrives too slowly") }
    awaitContent(now)
    let count = content.readableBytes
    if let bytes = content.readBytes(length: count) { exchange.control?.request.body += bytes }
    connection.session.take(count, on: stream)
  }

  func perform() {
    guard let control = exchange.control else { return }
    server.loop.wheel.disarm(self)
    let request = control.request
    let work = control.action.perform
    let eventLoop = server.loop.eventLoop
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    Task {
      let response = await work(request)
      eventLoop.execute { bound.value.respond(response) }
    }
  }
}
