package import HTTPTypes
internal import HTTPWire
package import NIOCore
internal import TLSTransport

/// The gateway's own HTTP client, for the control plane: whole requests to one origin, whole responses, over the same
/// connections, parsers and TLS as the data plane's.
package struct OriginClient: Sendable {
  let pool: NIOLoopBound<LoopPool>
  private let authority: String
  private let timeout: Duration
  private let bodyLimit: Int

  struct LoopPool {
    let loop: LoopResources
    let pool: UpstreamPool
  }

  /// - Parameters:
  ///   - target: an upstream of one address.
  ///   - authority: what `Host` says.
  ///   - timeout: for a whole exchange, connection included.
  ///   - bodyLimit: most bytes of a response's body.
  package init(
    _ target: UpstreamGroup, authority: String, timeout: Duration, bodyLimit: Int, on eventLoop: any EventLoop
  ) async throws {
    self.authority = authority
    self.timeout = timeout
    self.bodyLimit = bodyLimit
    let endpoint = target.endpoints[0]
    pool = try await eventLoop.submit {
      let loop = LoopResources(eventLoop: eventLoop)
      let pool = UpstreamPool(loop: loop, settings: target.settings, endpoint: endpoint, use: .own) { _ in }
      return NIOLoopBound(LoopPool(loop: loop, pool: pool), eventLoop: eventLoop)
    }.get()
  }

  /// Sends `request`, at most once, and waits for the whole response.
  package func send(_ request: HTTPRequest, body: [UInt8]) async throws(OriginError) -> OriginResponse {
    let eventLoop = pool.eventLoop
    let promise = eventLoop.makePromise(of: OriginResponse.self)
    let (authority, limit, timeout, pool) = (authority, bodyLimit, TimeAmount(timeout), pool)
    eventLoop.execute {
      let exchange = CollectingClient(
        head: Self.head(request, body: body, authority: authority), isHead: request.method == .head, limit: limit,
        promise: promise)
      exchange.start(pool.value.pool, timeout: timeout, on: eventLoop)
    }
    do {
      return try await promise.futureResult.get()
    } catch let error as OriginError {
      throw error
    } catch {
      throw .unanswered(String(describing: error))
    }
  }

  private static func head(_ request: HTTPRequest, body: [UInt8], authority: String) -> ByteBuffer {
    var text = "\(request.method.rawValue) \(request.path ?? "/") HTTP/1.1\r\nHost: \(authority)\r\n"
    // Framing and routing are ours to write, whatever the request says.
    for field in request.headerFields where ![.contentLength, .transferEncoding, .connection].contains(field.name) {
      text += "\(field.name.rawName): \(field.value)\r\n"
    }
    if !body.isEmpty || request.method == .post { text += "Content-Length: \(body.count)\r\n" }
    var buffer = ByteBuffer(string: text + "\r\n")
    buffer.writeBytes(body)
    return buffer
  }
}

/// A whole response of an origin.
package struct OriginResponse: Sendable {
  /// The final head; interim responses are skipped.
  package var head: HTTPResponse
  /// The content, without its transfer coding.
  package var body: [UInt8]
}

/// Failure of a request. The cases differ for callers that must not send a request twice.
package enum OriginError: Error, Sendable, Equatable {
  /// The request cannot have reached the origin: refused, name not found, no TLS.
  case notSent(String)
  /// The request may have reached the origin.
  case unanswered(String)
}

/// Collects a whole response for the control plane.
private final class CollectingClient: UpstreamResponseReceiver {
  private let head: ByteBuffer
  private let isHead: Bool
  private let limit: Int
  private let promise: EventLoopPromise<OriginResponse>
  private var connection: UpstreamConnection?
  private var response: OriginResponse?
  private var timer: Scheduled<Void>?
  private var isOver = false

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
    let connection = connection
    let sent = connection != nil
    end(
      .failure(
        sent ? .unanswered("no whole response in time") : .notSent(endpoint.connectTimeout.reason(of: "the server"))))
    connection?.abandon()
  }

  private func end(_ result: Result<OriginResponse, OriginError>) {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    connection = nil
    promise.completeWith(result.mapError { $0 as any Error })
  }

  func upstreamReady(_ connection: UpstreamConnection) {
    guard !isOver else { return connection.close() }
    self.connection = connection
    connection.begin(
      self, head: head, content: nil, isHead: isHead, isComplete: true, upgrades: false, isLast: true, now: .now())
  }

  func upstreamFailed(_ failure: UpstreamFailure) {
    switch failure {
    case .connect, .unresolved, .connectTimeout, .lookupTimeout, .handshake, .connectionLimit, .noDescriptor,
      .localShortage:
      end(.failure(.notSent(failure.reason(of: "the server"))))
    default: end(.failure(.unanswered(failure.reason(of: "the server"))))
    }
  }

  func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, toCome: BodyFraming) {
    guard !head.isInterim else { return }
    response = OriginResponse(
      head: HTTPResponse(status: .init(code: head.status), headerFields: HTTPFields(head.fields, bytes)), body: [])
  }

  func responseContent(_ content: ByteBuffer) {
    guard !isOver else { return }
    guard (response?.body.count ?? 0) + content.readableBytes <= limit else {
      let connection = connection
      end(.failure(.unanswered("a response of more than \(limit) bytes")))
      connection?.abandon()
      return
    }
    response?.body += content.readableBytesView
  }

  func responseEnded(trailers: [UInt8]) {
    let connection = connection
    if let response { end(.success(response)) } else { end(.failure(.unanswered("no response"))) }
    connection?.close()
  }

  func flushResponse() {}
  func upstreamWritabilityChanged(_ writable: Bool) {}
  var canTakeResponse: Bool { true }

  var takesBulk: Bool { false }
}
