import HTTPWire
import NIOCore

extension Invariant {
  /// For any frames of a client, in any pieces: each accepted stream is exactly one request, for our reader of heads
  /// and for llhttp, and what was noted while its head was written is what the reader finds in it; content is no more
  /// than was announced. Streams are begun in order, once each. Data of one never reaches another: a head written in
  /// plain literals is that of its own stream, content is that of the stream's own DATA, the fields of an honest
  /// request before them occur in no other, and each response is sent on its own stream.
  ///
  /// The first byte chooses the size of the pieces.
  static let http2Frames = Invariant("http2-frames") { bytes in
    guard let first = bytes.first else { return }
    let sent = Array(bytes.dropFirst())
    let whole = HTTP2Observer()
    whole.receive(HTTP2Observer.honest, inPiecesOf: .max)
    whole.receive(sent, inPiecesOf: .max)
    try whole.requireOneRequestEach()
    try whole.requireNothingCrossed(sent)
    let pieces = HTTP2Observer()
    pieces.receive(HTTP2Observer.honest, inPiecesOf: .max)
    pieces.receive(sent, inPiecesOf: Int(first) + 1)
    try pieces.requireOneRequestEach()
    try pieces.requireNothingCrossed(sent)
    let late = HTTP2Observer()
    late.receive(HTTP2Observer.honest, inPiecesOf: .max)
    late.receive(sent, inPiecesOf: Int(first) + 1, answeringEach: false)
    try late.requireOneRequestEach()
    try late.requireNothingCrossed(sent)
    // Either may have begun streams that the other has not: a verdict on a whole read comes a little later than one on
    // its pieces, and a hundred streams that wait for their answers leave no room for one more. Streams of both are
    // equal.
    for one in whole.requests {
      guard let other = pieces.requests.first(where: { $0.id == one.id }) else { continue }
      try require(one.meaning == other.meaning, "stream \(one.id) is another request in pieces")
    }
  }
}

extension HTTP2Observer {
  /// Every stream that was accepted is one request and begins after those before it.
  fileprivate func requireOneRequestEach() throws(Violation) {
    var last: Int32 = 0
    for request in requests {
      try require(request.id > last && request.id % 2 == 1, "stream \(request.id) after \(last)")
      last = request.id
      try require(
        request.isReadAlike, "what is noted of stream \(request.id) is not in its head: \(shown(request.head))")
      // A head that our reader refuses is not forwarded; one that it accepts must be one request for every reader.
      var head = RequestHead()
      var asked = request.head
      guard RequestHeadParser(limits: .forInvariants).parse(asked.span.bytes, into: &head) == .complete else {
        continue
      }
      if head.framing != .chunked, !head.wantsUpgrade {
        let count = request.content.count
        let length = if case .length(let length) = head.framing { length } else { 0 }
        try require(count <= length, "stream \(request.id) has \(count) bytes of \(length)")
        try require(!request.isWhole || count == length, "stream \(request.id) ended after \(count) of \(length)")
      }
      try require(head.byteCount == asked.count, "stream \(request.id) is more than one head")
      asked = LLHTTPReading.inASCII(asked, head.target)
      if head.method == .other { asked.replaceSubrange(head.methodRange, with: Array("PUT".utf8)) }
      let theirs = LLHTTPReading.request(asked)
      try require(
        theirs.request != nil && !theirs.isRefused && theirs.messages == 1,
        "llhttp does not take stream \(request.id): \(shown(asked))")
    }
  }

  fileprivate func requireNothingCrossed(_ sent: [UInt8]) throws(Violation) {
    let frames = FrameReading.frames(sent)
    let isNoSecret = FrameReading.finds(Self.secret, in: sent)
    for request in requests {
      let isHonest = request.id == 1
      guard !isHonest else { continue }
      try require(
        isNoSecret || !FrameReading.finds(Self.secret, in: request.head), "stream \(request.id) says what stream 1 said"
      )
      try requireOwnHead(request, frames)
      if request.content.isEmpty { continue }
      let content = frames.filter { $0.type == FrameReading.Frame.data && $0.stream == request.id }
        .compactMap(\.content).joined()
      try require(
        content.starts(with: request.content), "stream \(request.id) has content that was not sent on it")
    }
    for frame in FrameReading.frames(output) where frame.type == FrameReading.Frame.data && !frame.payload.isEmpty {
      try require(
        frame.payload.allSatisfy { $0 == UInt8(truncatingIfNeeded: frame.stream) },
        "the answer on stream \(frame.stream) is another's")
    }
  }

  /// If the head's block consists of plain literals, the path and the fields are those of this block.
  private func requireOwnHead(_ request: Request, _ frames: [FrameReading.Frame]) throws(Violation) {
    let blocks = frames.filter { $0.type == FrameReading.Frame.headers && $0.stream == UInt32(request.id) }
    // Several may be trailers, or a violation: only one is sure to be the head.
    guard blocks.count == 1, let block = blocks.first, block.flags & FrameReading.Frame.endHeaders != 0,
      block.flags & (FrameReading.Frame.padded | FrameReading.Frame.prioritized) == 0,
      let fields = FrameReading.literals(block.payload)
    else { return }
    let line = request.head.prefix { $0 != 0x0D }.split(separator: 0x20, omittingEmptySubsequences: false)
    let path = fields.first { $0.name == Array(":path".utf8) }?.value ?? []
    try require(line.count == 3 && Array(line[1]) == path, "stream \(request.id) asks for \(shown(line.joined()))")
    for field in fields where field.name.starts(with: Array("x-".utf8)) {
      // White space around a value is dropped.
      let value = field.value.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed()
      let written = field.name + Array(": ".utf8) + value + Array("\r\n".utf8)
      try require(FrameReading.finds(written, in: request.head), "stream \(request.id) has lost \(shown(written))")
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
