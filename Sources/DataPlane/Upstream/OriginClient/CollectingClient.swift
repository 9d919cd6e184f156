internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// Sends one request of an ``OriginClient``, and collects the whole response.
final class CollectingClient: UpstreamResponseReceiver {
  private enum Phase {
    /// The pool has been asked for a connection.
    case connecting
    /// The request was sent.
    case sent(UpstreamConnection)
    /// The promise is completed.
    case over
  }

  private let head: ByteBuffer
  private let isHead: Bool
  private let limit: Int
  private let promise: EventLoopPromise<OriginResponse>
  private var phase = Phase.connecting
  /// The response so far; nil before its final head.
  private var response: OriginResponse?
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - head: the request as it is sent, with its body.
  ///   - isHead: whether its method is HEAD.
  ///   - limit: most bytes of the response's body.
  init(head: ByteBuffer, isHead: Bool, limit: Int, promise: EventLoopPromise<OriginResponse>) {
    self.head = head
    self.isHead = isHead
    self.limit = limit
    self.promise = promise
  }

  func start(_ pool: UpstreamPool, timeout: TimeAmount, on eventLoop: any EventLoop) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let endpoint = pool.endpoint
    timer = eventLoop.scheduleTask(in: timeout) { bound.value.timedOut(endpoint) }
    // A fresh connection each time: on a stale one it would be unknown whether the request arrived.
    pool.connect(for: self)
  }

  private func timedOut(_ endpoint: UpstreamEndpoint) {
    switch phase {
    case .connecting: end(.failure(.notSent(endpoint.connectTimeout.reason(of: "the server"))))
    case .sent(let connection):
      end(.failure(.unanswered("no whole response in time")))
      connection.abandon()
    case .over: break
    }
  }

  private func end(_ result: Result<OriginResponse, OriginError>) {
    if case .over = phase { return }
    phase = .over
    timer?.cancel()
    promise.completeWith(result.mapError { $0 as any Error })
  }

  func upstreamReady(_ connection: UpstreamConnection) {
    guard case .connecting = phase else { return connection.close() }
    phase = .sent(connection)
    let awaited = UpstreamConnection.AwaitedHead(
      toHead: isHead, upgrades: false, isLast: true, requestIsComplete: true)
    connection.begin(self, head: head, content: nil, awaiting: awaited, now: .now())
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    switch failure {
    case .connect, .unresolved, .connectTimeout, .lookupTimeout, .handshake, .connectionLimit, .noDescriptor,
      .localShortage:
      end(.failure(.notSent(failure.reason(of: "the server"))))
    default: end(.failure(.unanswered(failure.reason(of: "the server"))))
    }
  }

  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {
    guard !head.isInterim else { return }
    response = OriginResponse(
      head: HTTPResponse(status: .init(code: head.status), headerFields: HTTPFields(head.fields, bytes)), body: [])
  }

  func responseContent(_ content: ByteBuffer) {
    guard case .sent(let connection) = phase else { return }
    guard (response?.body.count ?? 0) + content.readableBytes <= limit else {
      end(.failure(.unanswered("a response of more than \(limit) bytes")))
      connection.abandon()
      return
    }
    response?.body += content.readableBytesView
  }

  func responseEnded(trailers: [UInt8]) {
    guard case .sent(let connection) = phase else { return }
    if let response { end(.success(response)) } else { end(.failure(.unanswered("no response"))) }
    connection.close()
  }

  func flushResponse() {}
  func upstreamWritabilityChanged(_ writable: Bool) {}
  var canTakeResponse: Bool { true }
  var takesBulk: Bool { false }
}
