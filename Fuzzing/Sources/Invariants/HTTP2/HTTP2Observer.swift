import HTTPWire
import NIOCore

/// A server's session whose handlers answer each request with bytes that name its stream, and record the events.
final class HTTP2Observer: HTTP2SessionHandler {
  /// The result of one stream.
  final class Request: HTTP2StreamHandler {
    let id: Int32
    let head: [UInt8]
    let answer: (Request) -> Void
    let stream: HTTP2InboundStream
    var content: [UInt8] = []
    var isAnswered = false
    var isWhole = false
    /// Whether what was noted while the head was written is what a reader finds in it.
    var isReadAlike = true

    init(_ stream: HTTP2InboundStream, _ head: [UInt8], answer: @escaping (Request) -> Void) {
      id = stream.id
      self.stream = stream
      self.head = head
      self.answer = answer
    }

    /// The head without the key of a WebSocket, which is random and comes last: 24 digits and two line ends.
    var meaning: [UInt8] {
      FrameReading.finds(Array("\r\nSec-WebSocket-Key: ".utf8), in: head) ? Array(head.dropLast(28)) : head
    }

    func received(content: ByteBuffer) { self.content += content.readableBytesView }
    func receivedEnd(trailers: [UInt8]) {
      isWhole = true
      answer(self)
    }
    func sentContent() {}
    func closed(_ code: UInt32) {}
  }

  private let session: HTTP2ServerSession
  private(set) var requests: [Request] = []
  private var due: [Request] = []
  private(set) var output: [UInt8] = []
  /// The clock does not advance: budgets are not refilled.
  private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

  /// A value that only the honest request contains.
  static let secret = Array("anna's own session".utf8)

  /// The preface, and a request on stream 1, whose secret HPACK does not remember.
  static let honest: [UInt8] =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    + frame(1, flags: 0x5, stream: 1, [0x82, 0x86, 0x84, 0x41, 0x01] + Array("a".utf8) + literal("x-user", secret))

  init() {
    session = HTTP2ServerSession(HTTP2Policy(heads: .forInvariants), now: .uptimeNanoseconds(1_000_000_000))
    session.handler = self
  }

  deinit { session.close() }

  /// - Parameter answers: whether what is due is sent after each piece, or only after the last.
  func receive(_ bytes: [UInt8], inPiecesOf size: Int, answeringEach answers: Bool = true) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(size)
      rest = rest.dropFirst(piece.count)
      session.receive(ByteBuffer(bytes: piece), now: now)
      if answers { answer() }
    }
    answer()
  }

  private func answer() {
    for request in due where !request.isAnswered {
      request.isAnswered = true
      var fields = HTTP2Fields()
      fields.begin(status: 200)
      session.respond(&fields, on: request.stream, isWhole: false)
      session.send(ByteBuffer(repeating: UInt8(truncatingIfNeeded: request.id), count: 100), on: request.stream)
      session.end(request.stream, trailers: [])
    }
    due = []
    var buffer = ByteBuffer()
    session.produce(into: &buffer, limit: 1 << 20)
    output += buffer.readableBytesView
  }

  func received(request head: RawSpan, on stream: HTTP2InboundStream, isWhole: Bool) -> any HTTP2StreamHandler {
    let request = Request(stream, head.withUnsafeBytes { Array($0) }) { [unowned self] in due.append($0) }
    request.isReadAlike = isReadAlike(head)
    requests.append(request)
    request.isWhole = isWhole
    if isWhole { due.append(request) }
    return request
  }

  func received(
    refusableOn stream: HTTP2InboundStream, head: RawSpan, status: Int, reason: String
  ) -> any HTTP2StreamHandler {
    let request = Request(stream, []) { _ in }
    due.append(request)
    return request
  }

  private func isReadAlike(_ bytes: RawSpan) -> Bool {
    var noted = RequestHead()
    var read = RequestHead()
    let outcome = session.takeRequest(into: &noted)
    let expected = RequestHeadParser(limits: .forInvariants).parse(bytes, into: &read)
    if case .violation(let noted) = outcome, case .violation(let read) = expected {
      // Of two limits that are passed each may name another.
      return noted.status == read.status
    }
    guard outcome == expected, outcome == .complete else { return outcome == expected }
    return noted.fields.lines == read.fields.lines && noted.methodRange == read.methodRange
      && noted.target == read.target && noted.path == read.path && noted.query == read.query
      && noted.authority == read.authority && noted.framing == read.framing && noted.byteCount == read.byteCount
      && noted.wantsUpgrade == read.wantsUpgrade && noted.nominatesFields == read.nominatesFields
      && noted.isAsteriskForm == read.isAsteriskForm && noted.fieldsStart == read.fieldsStart
  }

  func receivedMalformed(_ reason: String) {}
  func receivedPong() {}

  private static func frame(_ type: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, flags, 0, 0, 0, stream] + payload
  }

  /// Never indexed (RFC 7541, 6.2.3).
  private static func literal(_ name: String, _ value: [UInt8]) -> [UInt8] {
    [0x10, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.count)] + value
  }
}
