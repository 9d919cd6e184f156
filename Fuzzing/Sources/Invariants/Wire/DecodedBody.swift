import HTTPWire
import NIOCore

/// The result of a decoder for a body in pieces.
struct DecodedBody: Equatable {
  var content: [UInt8] = []
  /// The trailer section; nil while the body is not whole.
  var trailers: [UInt8]?
  var violation: ChunkViolation?
  /// The bytes after the body.
  var rest: [UInt8] = []

  init(chunked pieces: [ArraySlice<UInt8>], limits: ChunkLimits = ChunkLimits()) throws(Violation) {
    var decoder = BodyDecoder(BodyFraming.chunked, limits: limits)
    for piece in pieces {
      if trailers != nil {
        rest += piece
        continue
      }
      var buffer = ByteBuffer(bytes: piece)
      guard try take(&buffer, by: &decoder) else { return }
    }
  }

  /// - Returns: whether more may come.
  private mutating func take(_ buffer: inout ByteBuffer, by decoder: inout BodyDecoder) throws(Violation) -> Bool {
    while true {
      switch decoder.next(&buffer) {
      case .content(let count):
        guard count > 0, let bytes = buffer.readBytes(length: count) else {
          throw Violation(description: "content of \(count) bytes where there are \(buffer.readableBytes)")
        }
        content += bytes
      case .incomplete:
        try require(buffer.readableBytes == 0, "\(buffer.readableBytes) bytes were left lying")
        return true
      case .end(let trailers):
        try require(decoder.isComplete, "the end was told of a body that is not complete")
        self.trailers = trailers
        rest = Array(buffer.readableBytesView)
        return true
      case .violation(let violation):
        self.violation = violation
        return false
      }
    }
  }
}
