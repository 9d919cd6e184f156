internal import NIOCore

/// The facts by which the gate authorizes an exchange again that has been under way for a while. A short exchange never
/// has one.
final class ExchangeReview {
  var exchange: OpenExchange
  /// Bytes of the request's body that had come at the last review.
  var receivedBytes = 0

  init(_ exchange: OpenExchange) { self.exchange = exchange }
}

extension Exchange {
  /// The age from which on an exchange is reviewed.
  static let reviewAge = TimeAmount.seconds(1)

  /// Whether there is something to review: an exchange with the upstream.
  var isReviewable: Bool { isUnderWay && (upstream.head != nil || review != nil) }

  /// Prepares the review of an exchange.
  /// - Parameters:
  ///   - peer: the peer of its connection.
  ///   - head: line, authority, `Destination` and `Depth` of its request, read from the head that was sent.
  /// - Returns: nil where nothing is known to authorize it by.
  mutating func prepareReview(from peer: ClientPeer, _ head: @autoclosure () -> ByteBuffer?) -> ExchangeReview? {
    if review == nil, let head = head() {
      review = ExchangeReview(
        OpenExchange(
          session: info.session, credential: info.credential, client: info.client ?? peer, head: head))
    }
    review?.exchange.isActive =
      request.tunnel?.takeActivity() ?? (info.receivedBytes != review?.receivedBytes)
    review?.receivedBytes = info.receivedBytes
    return review
  }
}
