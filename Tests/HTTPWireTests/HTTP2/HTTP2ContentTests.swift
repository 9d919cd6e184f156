import NIOCore
import Testing

@testable import HTTPWire

// Cases: trailers of a request; content that is more or less than was announced, in whatever pieces; streams that are
// broken off while more of them comes; a head that continues after the session has shrunk.

@Suite("Content of HTTP/2")
struct HTTP2ContentTests {
  @Test("Trailers of a request arrive as lines; with pseudo-header fields, or too many, the stream is reset")
  func trailers() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields, end: false)
    rig.receive(RawFrame(type: RawFrame.data, stream: 1, payload: Array("abc".utf8)))
    rig.request([("x-sum", "1")], stream: 1)
    #expect(rig.streams[0].content == Array("abc".utf8))
    #expect(rig.streams[0].trailers == Array("x-sum: 1\r\n".utf8))
    rig.request(ordinaryFields, stream: 3, end: false)
    rig.request([(":path", "/b")], stream: 3)
    #expect(rig.streams[1].trailers == nil)
    rig.request(ordinaryFields, stream: 5, end: false)
    rig.request((0..<40).map { ("x-\($0)", "a") }, stream: 5)
    #expect(rig.streams[2].trailers == nil)
    #expect(rig.frames().filter { $0.type == RawFrame.reset }.map(\.stream) == [3, 5])
  }

  @Test("A second section that does not end the stream is malformed, and not reported")
  func trailersThatGoOn() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields, end: false)
    rig.request([("x-sum", "1")], stream: 1, end: false)
    rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1, payload: Array("abc".utf8)))
    #expect(rig.streams[0].trailers == nil && rig.streams[0].content.isEmpty)
    #expect(rig.resetCode() == HTTP2ErrorCode.protocolError.rawValue)
    #expect(rig.streams[0].closed == HTTP2ErrorCode.protocolError.rawValue)
  }

  @Test("Content beyond the announced length is not reported, in any frame, nor is the end after it")
  func tooMuch() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + [("content-length", "3")], end: false)
    rig.receive(
      RawFrame(type: RawFrame.data, stream: 1, payload: Array("abc".utf8)),
      RawFrame(type: RawFrame.data, stream: 1, payload: Array("GET".utf8)),
      RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1),
      RawFrame(type: RawFrame.headers, flags: 5, stream: 3, payload: section(ordinaryFields)))
    #expect(rig.streams[0].content == Array("abc".utf8))
    #expect(rig.streams[0].trailers == nil)
    #expect(rig.heads.count == 2, "the connection goes on")
    #expect(rig.resetCode() == HTTP2ErrorCode.protocolError.rawValue)
  }

  @Test(
    "Content beyond the announced length is not reported, however reads cut its frame, before the reset is sent",
    arguments: [1, 3, 4, 5, 6, 20])
  func tooMuchInPieces(_ size: Int) {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + [("content-length", "5")], end: false)
    let smuggled = Array("helloGET /private HTTP/1.1\r\nX-Forwarded-User: root\r\n\r\n".utf8)
    var rest = RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1, payload: smuggled).bytes[...]
    while !rest.isEmpty {
      rig.receive(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    #expect(smuggled.prefix(5).starts(with: rig.streams[0].content))
    #expect(rig.streams[0].trailers == nil)
    #expect(
      rig.frames().filter { $0.type == RawFrame.reset }.map { $0.code() } == [HTTP2ErrorCode.protocolError.rawValue])
  }

  @Test("Content, trailers and end of a stream that was reset are not reported")
  func brokenOff() {
    let rig = HTTP2Rig()
    for stream in [UInt32(1), 3, 5] { rig.request(ordinaryFields, stream: stream, end: false) }
    // Within a frame: the first half of it was reported.
    let frame = RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1, payload: Array("abcdef".utf8)).bytes
    rig.receive(Array(frame.prefix(12)))
    for stream in rig.streams { rig.session.reset(stream.stream, .cancel) }
    rig.receive(Array(frame.dropFirst(12)))
    rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 3, payload: Array("x".utf8)))
    rig.request([("x-sum", "1")], stream: 5)
    #expect(rig.streams.map(\.content) == [Array("abc".utf8), [], []])
    #expect(rig.streams.allSatisfy { $0.trailers == nil })
    #expect(rig.frames().filter { $0.type == RawFrame.reset }.map(\.stream).sorted() == [1, 3, 5])
    #expect(rig.streams.allSatisfy { $0.closed == HTTP2ErrorCode.cancel.rawValue })
  }

  @Test(
    "A body of the announced length ends normally, with trailers or without, also with padding", arguments: [0, 1, 2])
  func exactly(_ manner: Int) {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + [("content-length", "3")], end: false)
    let content = Array("abc".utf8)
    switch manner {
    case 0: rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1, payload: content))
    case 1:
      rig.receive(RawFrame(type: RawFrame.data, flags: 8, stream: 1, payload: [4] + content + [0, 0, 0, 0]))
      rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1))
    default:
      rig.receive(RawFrame(type: RawFrame.data, stream: 1, payload: content))
      rig.request([("x-sum", "1")], stream: 1)
    }
    #expect(rig.streams[0].content.elementsEqual(content))
    #expect(rig.streams[0].trailers != nil)
    #expect(rig.resetCode() == nil)
  }

  @Test("Trailers cannot make up for content that was announced and did not come")
  func tooLittle() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + [("content-length", "3")], end: false)
    rig.receive(RawFrame(type: RawFrame.data, stream: 1, payload: Array("ab".utf8)))
    rig.request([("x-sum", "1")], stream: 1)
    #expect(rig.streams[0].trailers == nil)
    #expect(rig.resetCode() == HTTP2ErrorCode.protocolError.rawValue)
  }

  @Test("Content beyond the announced length, or short of it, is a stream error", arguments: ["abcd", "ab"])
  func lengths(_ content: String) {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields + [("content-length", "3")], end: false)
    rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1, payload: Array(content.utf8)))
    #expect(rig.streams[0].trailers == nil)
    #expect(rig.streams[0].content.count < 4)
    #expect(rig.resetCode() == HTTP2ErrorCode.protocolError.rawValue)
  }

  @Test("A session that rests within a head keeps what has come of it")
  func rest() {
    let rig = HTTP2Rig()
    let block = section(ordinaryFields + [("x-first", "1"), ("x-last", "2")])
    rig.receive(
      RawFrame(type: RawFrame.headers, flags: RawFrame.endStream, stream: 1, payload: Array(block.dropLast(9))))
    rig.session.shrink()
    rig.receive(
      RawFrame(type: RawFrame.continuation, flags: RawFrame.endHeaders, stream: 1, payload: Array(block.suffix(9))))
    #expect(rig.heads.first?.hasSuffix("x-first: 1\r\nx-last: 2\r\n\r\n") == true)
    rig.session.shrink()
    rig.request(ordinaryFields, stream: 3)
    #expect(rig.heads.last == "GET /a?b HTTP/1.1\r\nHost: app.example.com\r\n\r\n")
  }
}
