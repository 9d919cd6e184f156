package import NIOCore

/// One stream of a session, from its head to its end.
package final class HTTP2Stream {
  /// Odd: begun by the client.
  package let id: Int32
  /// Who is told of what comes; let go of when the stream is closed.
  package var handler: (any HTTP2StreamHandler)?

  /// Content that is to be sent.
  var queue: ByteBuffer?
  /// What ends it: nothing more, or these field lines behind it. Nil while more may come.
  var ending: Ending?
  /// Whether nghttp2 has asked for content in vain, and must be told when there is some.
  var isDeferred = false
  /// Received, and neither taken nor given back.
  package internal(set) var untaken = 0
  /// Whether anything of a response has come, at the client's side.
  package internal(set) var hasAnswer = false
  /// The peer's violation that the stream is reset for, at the client's side.
  package internal(set) var violation: String?
  /// Whether it is being broken off by us: of what still comes nobody is told.
  package internal(set) var isReset = false
  /// What of an announced length has not come yet; nil where none was announced.
  var contentToCome: Int?
  /// Whether its section under way is the trailers.
  var hasHead = false
  /// Whether it is a request for a head alone, at the client's side.
  package var answersHead = false
  /// Whether the peer has sent its end, and whether we have.
  package internal(set) var isEndReceived = false
  package internal(set) var isEndSent = false

  /// Whether it has become a tunnel: the client may end it as it likes.
  var isTunnel = false

  enum Ending {
    case plain
    case trailers([UInt8])
  }

  init(id: Int32) { self.id = id }

  /// Bytes that wait to be sent.
  package var queuedBytes: Int { queue?.readableBytes ?? 0 }

  /// Takes so many of them, nil where there are fewer.
  func takeQueue(_ count: Int) -> ByteBuffer? {
    if queuedBytes == count { return queue.take() }
    return queue?.readSlice(length: count)
  }
}

/// Who uses a stream. Called while the session reads or writes: it may submit what it likes, but must neither feed nor
/// empty the session from within.
package protocol HTTP2StreamHandler: AnyObject {
  /// The peer has sent content. ``HTTP2Session/take(_:on:)`` gives it room for as much again.
  func received(content: ByteBuffer)
  /// The peer has sent all. Field lines, each ended by CR LF; empty without trailers.
  func receivedEnd(trailers: [UInt8])
  /// A response's head, at the client's side; interim ones too. Written as HTTP/1.1, its body framed as such.
  func received(head: ByteBuffer, isChunked: Bool)
  /// Some of the queued content is on its way.
  func sentContent()
  /// The stream is over, whichever way.
  func closed(_ code: UInt32)
}

extension HTTP2StreamHandler {
  /// A server's streams begin with their head: ``HTTP2SessionHandler`` makes who handles them.
  package func received(head: ByteBuffer, isChunked: Bool) {}
}
