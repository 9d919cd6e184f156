/// A stream that we have begun, as a client has it: a request that was sent, and its response.
package final class HTTP2OutboundStream: HTTP2Stream {
  /// Whether the request was HEAD.
  package var answersHead = false
  /// The violation for which the stream is reset.
  package internal(set) var violation: String?
  /// Bytes of names and values of the interim heads that have come.
  var interimBytes = 0

  /// A frame of the response has begun.
  func answerBegan() { if case .nothing = incoming { incoming = .headBegun } }

  /// Whether any part of a response has arrived.
  package var hasAnswer: Bool { if case .nothing = incoming { false } else { true } }
}
