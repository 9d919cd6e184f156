internal import HTTPWire
internal import NIOCore

/// What is kept of an exchange that has been under way for a while, so that its gate can judge it again. A short one
/// never has it.
final class ExchangeReview {
  var exchange: OpenExchange
  /// Bytes of the request's body that had come at the last review.
  var receivedBytes = 0

  init(_ exchange: OpenExchange) { self.exchange = exchange }
}

extension Exchange {
  /// An exchange is reviewed once it is so old.
  static let reviewAge = TimeAmount.seconds(1)

  /// Whether there is something to review: an exchange of a session with the application.
  var isReviewable: Bool { isUnderWay && session != nil && (sentHead != nil || review != nil) }

  /// Has the gate judge the exchange again, if it is old enough.
  /// - Parameter tunnel: what it has become, if it is one.
  /// - Returns: whether it may go on.
  mutating func review(at now: NIODeadline, by server: ServerContext, from peer: ClientPeer, tunnel: Tunnel?) -> Bool {
    guard let session, now - began >= Self.reviewAge else { return true }
    if review == nil, let sentHead, let head = Self.reviewHead(of: sentHead, server.loop) {
      review = ExchangeReview(
        OpenExchange(session: session, credential: credential, client: client ?? peer, head: head))
    }
    // Nothing is known to judge it by.
    guard let review else { return false }
    if responseBegan { returnSentHead(to: server.loop) }
    review.exchange.isActive = tunnel?.takeActivity() ?? (receivedBytes != review.receivedBytes)
    review.receivedBytes = receivedBytes
    return server.gate.review(&review.exchange)
  }

  /// Gives the buffer of the head that was sent back to the loop.
  @inline(__always)
  mutating func returnSentHead(to loop: LoopResources) {
    guard let sent = sentHead else { return }
    sentHead = nil
    loop.heads.give(sent)
  }

  /// Reads a head that the gateway wrote: what it adds comes on top of what its clients may send.
  static let sentHeadParser = RequestHeadParser(
    limits: HeadLimits(headBytes: 65_535, fieldCount: maximumFieldCount, targetBytes: 65_535))

  /// The line and the authority of a request, as a head without anything else.
  private static func reviewHead(of sent: ByteBuffer, _ loop: LoopResources) -> ByteBuffer? {
    let bytes = sent.readableBytesSpan
    guard sentHeadParser.parse(bytes, into: &loop.requestHead) == .complete else { return nil }
    var head = ByteBuffer()
    head.reserveCapacity(loop.requestHead.target.count + loop.requestHead.authority.count + 48)
    head.writeBytes(bytes.extracting(loop.requestHead.methodRange))
    head.writeStaticString(" ")
    head.writeBytes(bytes.extracting(loop.requestHead.target))
    head.writeStaticString(" HTTP/1.1\r\nHost: ")
    head.writeBytes(bytes.extracting(loop.requestHead.authority))
    head.writeStaticString("\r\n\r\n")
    return head
  }
}
