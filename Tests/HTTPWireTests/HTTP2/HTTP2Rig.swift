import NIOCore
import Testing

@testable import HTTPWire

/// A frame as bytes (RFC 9113, 4.1), built and taken apart by the tests themselves.
struct RawFrame: Equatable, CustomStringConvertible {
  var type: UInt8
  var flags: UInt8 = 0
  var stream: UInt32 = 0
  var payload: [UInt8] = []

  static let (data, headers, priority, reset, settings, ping, goAway, windowUpdate, continuation):
    (
      UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    ) = (0, 1, 2, 3, 4, 6, 7, 8, 9)
  static let (endStream, endHeaders, ack): (UInt8, UInt8, UInt8) = (0x1, 0x4, 0x1)

  var bytes: [UInt8] {
    let length = payload.count
    return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags] + number(stream)
      + payload
  }

  var description: String { "type \(type) flags \(flags) stream \(stream) (\(payload.count))" }

  /// The first four bytes of what is after a place, as the codes of RST_STREAM and GOAWAY are.
  func code(at place: Int = 0) -> UInt32 { payload[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }

  static func read(_ bytes: [UInt8]) -> [RawFrame] {
    var frames: [RawFrame] = []
    var rest = bytes[...]
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      frames.append(
        RawFrame(type: head[3], flags: head[4], stream: stream, payload: Array(rest.dropFirst(9).prefix(length))))
      rest = rest.dropFirst(9 + length)
    }
    return frames
  }
}

func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) } }

/// The head of a response, before it is handed to a session.
func responseFields(_ status: Int, _ others: (String, String)...) -> HTTP2Fields {
  var fields = HTTP2Fields()
  fields.begin(status: status)
  for (name, value) in others { fields.append(name: name, value: value) }
  return fields
}

/// A field section of literals without indexing (RFC 7541, 6.2.2), without Huffman codes.
func section(_ fields: [(String, String)]) -> [UInt8] {
  fields.flatMap { [0x00] + text($0.0) + text($0.1) }
}

private func text(_ text: String) -> [UInt8] {
  let bytes = Array(text.utf8)
  guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
  var length: [UInt8] = [127]
  var rest = bytes.count - 127
  while rest >= 128 {
    length.append(UInt8(rest & 127 | 128))
    rest >>= 7
  }
  return length + [UInt8(rest)] + bytes
}

let ordinaryFields = [(":method", "GET"), (":scheme", "https"), (":path", "/a?b"), (":authority", "app.example.com")]

/// A server's session, whose handlers record their events.
final class HTTP2Rig: HTTP2SessionHandler {
  final class Stream: HTTP2StreamHandler {
    let stream: HTTP2InboundStream
    var content: [UInt8] = []
    var trailers: [UInt8]?
    var closed: UInt32?
    var sent = 0
    var isAnswered = false

    init(_ stream: HTTP2InboundStream) { self.stream = stream }
    func received(content: ByteBuffer) { self.content += Array(content.readableBytesView) }
    func receivedEnd(trailers: [UInt8]) { self.trailers = trailers }
    func sentContent() { sent += 1 }
    func sentEnd() { isAnswered = true }
    func closed(_ code: UInt32) { closed = code }
  }

  let session: HTTP2ServerSession
  private(set) var heads: [String] = []
  private(set) var whole: [Bool] = []
  private(set) var refused: [Int] = []
  /// The part that was read of each refused request.
  private(set) var refusedHeads: [String] = []
  private(set) var malformed: [String] = []
  private(set) var pongs = 0
  private(set) var streams: [Stream] = []
  private var request = RequestHead()
  var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

  /// - Parameter acknowledges: whether the client says that it has read the settings.
  init(isWide: Bool = true, acknowledges: Bool = true, _ adjust: (inout HTTP2Policy) -> Void = { _ in }) {
    var policy = HTTP2Policy(heads: ordinaryLimits)
    adjust(&policy)
    session = HTTP2ServerSession(policy, now: now)
    session.handler = self
    if isWide { session.widenConnectionWindow() }
    receive(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + RawFrame(type: RawFrame.settings).bytes)
    _ = frames()
    if acknowledges { receive(RawFrame(type: RawFrame.settings, flags: RawFrame.ack)) }
  }

  deinit { session.close() }

  func receive(_ bytes: [UInt8]) { session.receive(ByteBuffer(bytes: bytes), now: now) }

  func receive(_ frames: RawFrame...) { receive(frames.flatMap(\.bytes)) }

  /// A request's head in one frame.
  func request(_ fields: [(String, String)], stream: UInt32 = 1, end: Bool = true) {
    receive(
      RawFrame(
        type: RawFrame.headers, flags: RawFrame.endHeaders | (end ? RawFrame.endStream : 0), stream: stream,
        payload: section(fields)))
  }

  /// Returns the frames to send, without acknowledgements and the first settings.
  func frames() -> [RawFrame] {
    allFrames().filter { $0.type != RawFrame.settings && ($0.type != RawFrame.windowUpdate || $0.stream != 0) }
  }

  /// Returns the frames to send.
  func allFrames() -> [RawFrame] {
    var buffer = ByteBuffer()
    session.produce(into: &buffer, limit: .max)
    return RawFrame.read(Array(buffer.readableBytesView))
  }

  /// The code of the RST_STREAM that is due.
  func resetCode() -> UInt32? { frames().first { $0.type == RawFrame.reset }?.code() }

  /// The code of the GOAWAY that is due.
  func goAwayCode() -> UInt32? { frames().first { $0.type == RawFrame.goAway }?.code(at: 4) }

  // MARK: The handler

  func received(request head: RawSpan, on stream: HTTP2InboundStream, isWhole: Bool) -> any HTTP2StreamHandler {
    let bytes = head.withUnsafeBytes { Array($0) }
    heads.append(String(decoding: bytes, as: UTF8.self))
    #expect(
      describe(session.takeRequest(into: &request), bytes, &request)
        == readRequest(bytes, limits: session.policy.heads),
      "what is noted of a head is what the parser reads in it")
    whole.append(isWhole)
    streams.append(Stream(stream))
    return streams[streams.count - 1]
  }

  func received(
    refusableOn stream: HTTP2InboundStream, head: RawSpan, status: Int, reason: String
  ) -> any HTTP2StreamHandler {
    refused.append(status)
    refusedHeads.append(head.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    streams.append(Stream(stream))
    return streams[streams.count - 1]
  }

  func receivedMalformed(_ reason: String) { malformed.append(reason) }

  func receivedPong() { pongs += 1 }
}
