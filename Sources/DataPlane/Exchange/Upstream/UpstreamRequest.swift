internal import HTTPWire
internal import NIOCore

/// The part of an exchange that goes upstream.
struct UpstreamRequest {
  /// Progress towards a connection.
  enum Leg {
    case none
    /// A connection was asked for; nil until the pool has been asked, which may answer at once.
    case waiting(UpstreamWaiter?)
    case connected(UpstreamConnection)
  }

  /// Content that arrived before it could be sent, or that may have to be sent again.
  enum Content {
    case none
    /// Waits for the connection. Not framed yet.
    /// - memory: what counts it; nil where it is bounded by what is read ahead of the connection.
    case waiting(ByteBuffer, memory: CollectedBodyMemory?)
    /// Was sent with the head, and is kept until the response begins, in case it has to be sent again.
    case sent(ByteBuffer)
  }

  /// The upstream that was configured when the gate decided, whatever is configured by now.
  var balancer: UpstreamBalancer?
  /// The addresses that were tried.
  var attempts = RetryState()
  var leg = Leg.none
  /// The head as it is sent: for another try, for the preferences of an error page, and for the first review.
  var head: ByteBuffer?
  var content = Content.none
  /// The trailers of a body that ended before there was a connection.
  var trailers: [UInt8] = []
  /// Whether the body is sent in chunks.
  var isChunked = false
  /// Whether the upstream may take the connection for the user's after the request: then it carries no other.
  var authenticatesConnection = false
  /// Whether the connection ends after the request, and is made for it.
  var endsConnection = false
  /// Most bytes of the body that are collected before the request is sent, so that it has a length; 0 if it is sent as
  /// it comes.
  var bufferLimit = 0
  /// Whether the path that was sent begins with a slash that the client's did not have after the removed prefix.
  var addsSlash = false
  /// `Destination` as the client sent it, for reviews; nil without one.
  var destination: [UInt8]?
  /// Rewrites addresses in the response; nil if it has none.
  var addresses: AddressRewriting?
  /// Field lines for this client alone, to be added to the response.
  var privateLines: [UInt8]?
  /// The upstream's session cookies as they are bound to the account of the request.
  var binding: CookieBinding?

  /// Most bytes of a body that are kept to be sent again.
  private static let replayLimit = 64 * 1024

  /// The connection that carries the request.
  @inline(__always)
  var connection: UpstreamConnection? { if case .connected(let connection) = leg { connection } else { nil } }

  /// Whether a connection was asked for and has not come.
  var isWaiting: Bool { if case .waiting = leg { true } else { false } }

  /// Whether content waits for the connection.
  @inline(__always)
  var hasContentWaiting: Bool { if case .waiting = content { true } else { false } }

  /// Whether something may have to be sent together with the head: most requests have nothing.
  @inline(__always)
  var hasFirstContent: Bool { isChunked || hasContentWaiting }

  /// The memory of the body that is being collected.
  var bodyMemory: CollectedBodyMemory? { if case .waiting(_, let memory) = content { memory } else { nil } }

  /// Adds content to what waits for the connection.
  /// - Parameter memory: what counts it from now on, where the body is collected.
  /// - Returns: bytes that what waits takes up, some of them unused.
  @discardableResult
  mutating func keep(_ more: consuming ByteBuffer, in memory: CollectedBodyMemory? = nil) -> Int {
    guard case .waiting(var whole, _) = content else {
      let kept = more.detached()
      content = .waiting(kept, memory: memory)
      return kept.storageCapacity
    }
    content = .none
    whole.writeBuffer(&more)
    let size = whole.storageCapacity
    content = .waiting(whole, memory: memory)
    return size
  }

  /// Removes the content that waits.
  mutating func takeWaiting() -> ByteBuffer? {
    guard case .waiting(let waiting, _) = content else { return nil }
    content = .none
    return waiting
  }

  /// Marks that content was sent which is not kept: the request cannot be sent again.
  @inline(__always)
  mutating func loseReplay() {
    attempts.isReplayable = false
    content = .none
  }

  /// Takes the content that is sent together with the head, in chunks if the body is chunked: the framing that the
  /// upstream reads is the gateway's, never the client's. Keeps it for an upstream that may not process the request.
  mutating func takeFirstContent(isComplete: Bool, rules: ForwardingRules, _ loop: LoopResources) -> ByteBuffer? {
    let waiting = takeWaiting()
    if let waiting, balancer?.speaksHTTP2 == true {
      if waiting.readableBytes <= Self.replayLimit {
        content = .sent(waiting)
      } else {
        attempts.isReplayable = false
      }
    }
    guard isChunked else { return waiting }
    var framed: ByteBuffer?
    if let waiting, waiting.readableBytes > 0 { frame(waiting, behind: &framed, loop) }
    guard isComplete else { return framed }
    var whole = framed ?? loop.buffers.take()
    TrailerForwarding.write(trailers, rules: rules, to: &whole)
    return whole
  }

  /// Adds content to `batch`, in a chunk where the body is chunked.
  @inline(__always)
  func frame(_ content: consuming ByteBuffer, behind batch: inout ByteBuffer?, _ loop: LoopResources) {
    if isChunked {
      var framed = batch ?? loop.buffers.take()
      batch = nil
      ChunkedEncoder.writeSize(content.readableBytes, to: &framed)
      framed.writeBuffer(&content)
      framed.writeStaticString("\r\n")
      batch = framed
    } else if batch == nil {
      batch = content
    } else {
      batch?.writeBuffer(&content)
    }
  }

  /// Gives a body that has arrived whole before it is sent its length, or none if it is empty: HTTP/2 frames no body,
  /// and not every application reads chunks.
  mutating func settleBody(_ method: RequestHead.Method) {
    // Of a body with a length nothing can follow.
    if bufferLimit > 0 { trailers = [] }
    guard isChunked, trailers.isEmpty, var sent = head else { return }
    head = nil
    isChunked = false
    let count = if case .waiting(let waiting, _) = content { waiting.readableBytes } else { 0 }
    let wasClosing = endsConnection
    endsConnection = authenticatesConnection || (balancer?.endsConnection(method, hasBody: count > 0) ?? false)
    RequestForwarding.replaceChunkedFraming(
      of: &sent, by: count > 0 || method.readsBody ? count : nil, wasClosing: wasClosing, closes: endsConnection)
    head = sent
    if count == 0 { attempts.isRetryable = method.isIdempotent }
  }

  /// Prepares the request to be sent again after a failure.
  /// - Returns: the addresses to be avoided; nil where it cannot be sent again.
  mutating func prepareRetry(after failure: UpstreamFailure) -> UInt64? {
    guard let balancer, let avoided = attempts.avoided(after: failure, of: balancer.pools.count) else { return nil }
    if case .sent(let replay) = content { content = .waiting(replay, memory: nil) }
    return avoided
  }

  /// Gives the buffer of the head back to the loop.
  @inline(__always)
  mutating func returnHead(to loop: LoopResources) {
    guard let sent = head.take() else { return }
    loop.heads.give(sent)
  }
}
