/// Closed streams of a connection, each with its handler, that serve its next requests: making the two objects and
/// freeing them costs more than reading a request's head.
///
/// A handler refers to its connection, and so to what keeps it here: they stay until they are removed.
struct HTTP2SpareStreams {
  /// The handler is never nil. It is optional, because Swift opens an existential that is not (SE-0352): unless that is
  /// optimized away, a copy is asked for its references, which is one more.
  private typealias Pair = (stream: HTTP2InboundStream, handler: AnyObject?)

  private var pairs: [Pair] = []
  /// The handler of the stream that was begun last; nil once it is taken, or where the stream is a new one.
  private var begun: AnyObject?

  /// Most that are kept. A page asks for some dozen files at once.
  static let limit = 32

  var count: Int { pairs.count }

  /// Keeps a closed stream for another request.
  mutating func keep(_ stream: consuming HTTP2InboundStream, servedBy handler: consuming any HTTP2StreamHandler) {
    if pairs.count < Self.limit { pairs.append((stream, handler)) }
  }

  /// Begins a stream, with the object of a closed one if there is one. Passes over those whose handler is still
  /// referred to: that is about the closed stream.
  mutating func begin(_ id: Int32) -> HTTP2InboundStream {
    while var pair = pairs.popLast() {
      guard isKnownUniquelyReferenced(&pair.handler) else { continue }
      begun = pair.handler.take()
      pair.stream.begin(id)
      return pair.stream
    }
    begun = nil
    return HTTP2InboundStream(id: id)
  }

  /// Takes the handler that the stream begun last had before, nil without one.
  mutating func takeHandler() -> AnyObject? { begun.take() }

  /// Frees all of them.
  mutating func removeAll() { self = HTTP2SpareStreams() }
}
