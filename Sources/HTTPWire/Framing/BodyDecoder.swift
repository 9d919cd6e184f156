package import NIOCore

/// Framing of a message body (RFC 9112, 6.3).
@usableFromInline
package enum BodyFraming: Sendable, Equatable {
  /// No body.
  case none
  /// Exactly so many bytes, at least one.
  case length(Int)
  /// Chunks.
  case chunked
  /// Until the connection ends: responses only.
  case untilClose
}

/// Removes the framing of a body incrementally, without copying the content.
package struct BodyDecoder: Sendable {
  private enum State: Sendable {
    case length(Int)
    case chunked(ChunkedDecoder)
    case untilClose
    case ended
  }

  private var state: State

  /// Decodes the body of a response. The limits hold for chunks only.
  package init(_ framing: BodyFraming, limits: ChunkLimits = .init()) {
    state =
      switch framing {
      case .none: .ended
      case .length(let length): .length(length)
      case .chunked: .chunked(ChunkedDecoder(limits: limits))
      case .untilClose: .untilClose
      }
  }

  /// Decodes the body of a request. The limits hold for chunks only.
  package init(_ framing: RequestFraming, limits: ChunkLimits = .init()) {
    switch framing {
    case .none: self.init(BodyFraming.none)
    case .length(let length): self.init(BodyFraming.length(length))
    case .chunked: self.init(BodyFraming.chunked, limits: limits)
    }
  }

  /// The next element of a body.
  package enum Step: Sendable, Equatable {
    /// So many bytes at the reader index are content, which the caller must read now.
    case content(Int)
    /// More bytes are needed.
    case incomplete
    /// The body is complete; its trailer section as field lines, each ended by CR LF, empty without one.
    case end(trailers: [UInt8])
    /// The framing is broken: neither this body nor what follows it can be trusted.
    case violation(ChunkViolation)
  }

  /// Whether the body is complete.
  package var isComplete: Bool {
    if case .ended = state { return true }
    return false
  }

  /// Whether the end of the connection is the proper end of the body.
  package var endsWithConnection: Bool {
    if case .untilClose = state { return true }
    return false
  }

  /// Moves past framing at the reader's place. After `.content(n)` the caller reads n bytes; after `.end` the rest of
  /// `buffer` belongs to the next message.
  package mutating func next(_ buffer: inout ByteBuffer) -> Step {
    switch state {
    case .ended: return .end(trailers: [])
    case .untilClose: return buffer.readableBytes > 0 ? .content(buffer.readableBytes) : .incomplete
    case .length(let left):
      if left == 0 {
        state = .ended
        return .end(trailers: [])
      }
      guard buffer.readableBytes > 0 else { return .incomplete }
      let count = min(left, buffer.readableBytes)
      state = .length(left - count)
      return .content(count)
    case .chunked(var decoder):
      // Taken out and put back, so that the decoder's arrays are never shared and never copied.
      state = .ended
      let step = decoder.next(&buffer)
      switch step {
      case .end: state = .ended
      default: state = .chunked(decoder)
      }
      return step
    }
  }
}
