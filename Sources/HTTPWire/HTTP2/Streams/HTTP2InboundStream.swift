/// A stream that the client has begun, as a server has it: a request that was received, and its response. The object of
/// a closed one may become another: see ``HTTP2SpareStreams``.
package final class HTTP2InboundStream: HTTP2Stream {
  /// Bytes that may come before any is consumed; 0 for the policy's, where the window was not widened.
  var widenedWindow = 0
  /// Bytes that were consumed since the window was widened last.
  var consumed = 0
  /// Whether it has become a tunnel, which the client may end at any time.
  var isTunnel = false
  /// Memory of the interim heads that wait to be sent, in their order, and of the final one.
  var interimHeads: [Int] = []
  var finalHead = 0

  /// Becomes another stream: the same as ``HTTP2Stream/init(id:)``.
  func begin(_ id: Int32) {
    beginAgain(id)
    widenedWindow = 0
    consumed = 0
    isTunnel = false
    interimHeads = []
    finalHead = 0
  }

  /// Whether the response was sent whole, so that no more of the request is wanted.
  var isAnswered: Bool { isEndSent }

  var hasQueuedHeads: Bool { finalHead > 0 || !interimHeads.isEmpty }
}
