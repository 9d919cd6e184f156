package import HTTPTypes
package import NIOCore

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
  ///   - group: an upstream of one address.
  ///   - authority: what `Host` says.
  ///   - timeout: for a whole exchange, connection included.
  ///   - bodyLimit: most bytes of a response's body.
  ///   - proposesLenience: whether the reason for a malformed response names the key of `lenient` that would accept it:
  ///     for an upstream of the configuration. No other server has this key. Default: false.
  package init(
    _ group: UpstreamGroup, authority: String, timeout: Duration, bodyLimit: Int, proposesLenience: Bool = false,
    on eventLoop: any EventLoop
  ) async throws {
    self.authority = authority
    self.timeout = timeout
    self.bodyLimit = bodyLimit
    let endpoint = group.endpoints[0]
    pool = try await eventLoop.submit {
      let loop = LoopResources(eventLoop: eventLoop)
      let pool = UpstreamPool(
        loop: loop, settings: group.settings, endpoint: endpoint, use: .own, proposesLenience: proposesLenience
      ) { _ in }
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
