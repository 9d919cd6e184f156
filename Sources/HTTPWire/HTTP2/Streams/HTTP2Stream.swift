package import NIOCore

/// One stream of a session, from its head to its end. Every stream is a ``HTTP2InboundStream`` or a
/// ``HTTP2OutboundStream``.
package class HTTP2Stream {
  /// Odd: begun by the client.
  package final private(set) var id: Int32
  /// Receives the events; released when the stream is closed.
  package final var handler: (any HTTP2StreamHandler)?

  /// Content to be sent.
  final var queue = ContentQueue()
  final var outgoing = Outgoing.open
  /// Field lines that follow the content, each ended by CR LF; empty for none, and until the content has ended.
  final var trailers: [UInt8] = []
  /// Received bytes that were not consumed yet.
  package final internal(set) var untaken = 0
  final var incoming = Incoming.nothing
  /// Whether we are resetting it: whatever still arrives is dropped.
  package final internal(set) var isReset = false
  /// Whether our end was written, as opposed to ``Outgoing/ended``, which is content that may still wait.
  package final internal(set) var isEndSent = false
  /// Whether it is closed. Its handler is called next.
  package final internal(set) var isClosed = false

  /// The content to be sent: whether there is more to come, and whether nghttp2 waits for it. The trailers are kept
  /// beside it, so that a change of it is the change of one byte.
  enum Outgoing {
    /// More may follow.
    case open
    /// More may follow. nghttp2 has found none, and must be resumed.
    case starved
    case ended

    /// There is content, or its end.
    /// - Parameter next: ``open`` or ``ended``.
    /// - Returns: whether nghttp2 must be resumed.
    @inline(__always)
    mutating func proceed(to next: Outgoing) -> Bool {
      let isStarved = self == .starved
      self = next
      return isStarved
    }
  }

  /// The part of the peer's message that has come.
  enum Incoming: Equatable {
    /// No whole head of a request (server), no frame of a response (client).
    case nothing
    /// Frames of a response, but no final head (client).
    case headBegun
    /// The head.
    /// - toCome: bytes of the announced length that have not arrived yet; nil without one.
    case content(toCome: Int?)
    case ended
  }

  init(id: Int32) { self.id = id }

  /// Becomes another stream: the same as ``init(id:)``.
  final func beginAgain(_ id: Int32) {
    self.id = id
    handler = nil
    queue = ContentQueue()
    outgoing = .open
    trailers = []
    untaken = 0
    incoming = .nothing
    isReset = false
    isEndSent = false
    isClosed = false
  }

  /// Whether the head has come, so that another section is the trailers.
  final var hasHead: Bool {
    switch incoming {
    case .nothing, .headBegun: false
    case .content, .ended: true
    }
  }

  /// Whether the peer has sent its end.
  final var isEndReceived: Bool { if case .ended = incoming { true } else { false } }

  /// Whether content is to come that was announced.
  final var lacksContent: Bool { if case .content(let toCome?) = incoming { toCome > 0 } else { false } }

  /// Content has come.
  /// - Returns: whether it is no more than was announced.
  final func takeAnnounced(_ count: Int) -> Bool {
    guard case .content(let toCome?) = incoming else { return true }
    guard count <= toCome else { return false }
    incoming = .content(toCome: toCome - count)
    return true
  }

  /// Bytes of content that wait to be sent.
  package final var queuedBytes: Int { queue.count }

  /// Keeps what still waits, so that the buffer it was read into can be used again. To be called before that is read
  /// into again.
  package final func detachQueue() { queue.detach() }
}

/// Receives the events of a stream. Called while the session reads or writes: it may submit messages, but must call
/// neither ``HTTP2Session/receive(_:now:)`` nor ``HTTP2Session/produce(into:limit:)``.
package protocol HTTP2StreamHandler: AnyObject {
  /// The peer has sent content. To consume it on the session gives the peer room for as much again.
  func received(content: ByteBuffer)
  /// The peer has sent all. Field lines, each ended by CR LF; empty without trailers.
  func receivedEnd(trailers: [UInt8])
  /// A response's head, at the client's side. Written as HTTP/1.1, its body framed as such.
  func received(head: ByteBuffer, isChunked: Bool)
  /// An interim head, at the client's side. Written as HTTP/1.1; valid until this returns.
  func received(interim head: RawSpan)
  /// Some of the queued content was written.
  func sentContent()
  /// All of the response was written, and the client's side of the stream is still open (server): what comes of it is
  /// discarded, and ``discardedContent()`` is called. To be reset when nothing more comes, with NO_ERROR, and in a
  /// write of its own: clients that are sending may lose a response that comes with its reset.
  func sentEnd()
  /// Content has come for a request that was answered, and was discarded.
  func discardedContent()
  /// The stream is closed, for whatever reason. Called once.
  func closed(_ code: UInt32)
}

extension HTTP2StreamHandler {
  /// A server's streams begin with their head, for which ``HTTP2SessionHandler`` returns a handler.
  package func received(head: ByteBuffer, isChunked: Bool) {}
  /// A server receives none.
  package func received(interim head: RawSpan) {}
  /// A client's side may end before the application's response.
  package func sentEnd() {}
  /// Of use only with ``sentEnd()``.
  package func discardedContent() {}
}
