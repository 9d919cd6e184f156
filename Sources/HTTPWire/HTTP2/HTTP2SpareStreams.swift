/// Closed streams of a connection, each with its handler, that serve its next requests: making the two objects and
/// freeing them costs more than reading a request's head.
///
/// Each refers to its handler, and that to the stream: they stay until they are removed.
struct HTTP2SpareStreams {
  private var streams: [HTTP2Stream] = []

  /// Most that are kept. A page asks for some dozen files at once.
  static let limit = 32

  /// Keeps a closed stream for another request.
  mutating func keep(_ stream: consuming HTTP2Stream, servedBy handler: consuming any HTTP2StreamHandler) {
    guard streams.count < Self.limit else { return }
    stream.formerHandler = handler
    streams.append(stream)
  }

  /// Takes one out and begins another stream with it; nil without one. Passes over those whose handler is still
  /// referred to: that is about the closed stream.
  mutating func begin(_ id: Int32) -> HTTP2Stream? {
    while let stream = streams.popLast() {
      if isKnownUniquelyReferenced(&stream.formerHandler) {
        stream.begin(id)
        return stream
      }
      stream.formerHandler = nil
    }
    return nil
  }

  /// Frees all of them.
  mutating func removeAll() {
    for stream in streams { stream.formerHandler = nil }
    streams = []
  }
}
