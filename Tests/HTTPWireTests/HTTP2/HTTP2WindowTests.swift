import NIOCore
import Testing

@testable import HTTPWire

// Cases: windows of uploads and of their connection, uploads that stall, a client without a window.

@Suite("Windows of HTTP/2")
struct HTTP2WindowTests {
  @Test("Windows grow when content is taken, not when it comes; what a closed stream held is given back")
  func windows() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields, end: false)
    _ = rig.frames()
    let piece = RawFrame(type: RawFrame.data, stream: 1, payload: [UInt8](repeating: 0, count: 16_384))
    for _ in 0..<7 { rig.receive(piece) }
    #expect(rig.frames().isEmpty)
    #expect(rig.session.untakenBytes == 7 * 16_384)
    rig.session.consume(7 * 16_384, on: rig.streams[0].stream)
    #expect(rig.frames().map { [$0.stream, $0.code()] } == [[1, 7 * 16_384]])
    #expect(rig.session.untakenBytes == 0)
    for _ in 0..<7 { rig.receive(piece) }
    rig.session.reset(rig.streams[0].stream, .cancel)
    _ = rig.frames()
    #expect(rig.streams[0].closed != nil)
    #expect(rig.session.untakenBytes == 0)
    // The eighth piece is beyond what the stream may send.
    let other = HTTP2Rig()
    other.request(ordinaryFields, end: false)
    for _ in 0..<9 { other.receive(piece) }
    #expect(other.resetCode() == HTTP2ErrorCode.flowControlError.rawValue)
  }

  @Test("The window of an upload doubles, up to its limit, when all that came in it was taken, and not before")
  func wideWindow() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields, end: false)
    let stream = rig.streams[0].stream
    func send(_ count: Int) {
      for place in stride(from: 0, to: count, by: 16_384) {
        let payload = [UInt8](repeating: 0, count: min(16_384, count - place))
        rig.receive(RawFrame(type: RawFrame.data, stream: 1, payload: payload))
      }
    }
    /// Bytes that the client may send from now on, besides those that it was told of before.
    func granted() -> Int { rig.frames().reduce(0) { $0 + Int($1.code()) } }
    for (window, next) in [(131_072, 262_144), (262_144, 524_288), (524_288, 524_288)] {
      send(window)
      #expect(granted() == 0 && stream.untaken == window, "a window of \(window)")
      rig.session.consume(window, on: stream)
      #expect(granted() == next)
    }
    send(524_288 + 1)
    #expect(rig.resetCode() == HTTP2ErrorCode.flowControlError.rawValue)

    let other = HTTP2Rig()
    other.request(ordinaryFields, end: false)
    other.receive(RawFrame(type: RawFrame.data, stream: 1, payload: [0]))
    for _ in 0..<20 {
      other.receive(RawFrame(type: RawFrame.data, stream: 1, payload: [UInt8](repeating: 0, count: 16_384)))
      // A byte always waits.
      other.session.consume(16_384, on: other.streams[0].stream)
      _ = other.frames()
    }
    #expect(other.session.window(of: other.streams[0].stream) == 131_072)
  }

  @Test("Uploads that took everything and then stall leave room for the body of another request")
  func stalledUploads() {
    let rig = HTTP2Rig()
    for stream: UInt32 in [1, 3, 5] { rig.request(ordinaryFields, stream: stream, end: false) }
    _ = rig.frames()
    for _ in 0..<3 {
      for place in 0..<2 {
        let window = rig.session.window(of: rig.streams[place].stream)
        send(window, on: UInt32(2 * place + 1), rig)
        rig.session.consume(window, on: rig.streams[place].stream)
        _ = rig.frames()
      }
    }
    for place in 0..<2 { send(rig.session.window(of: rig.streams[place].stream), on: UInt32(2 * place + 1), rig) }
    send(131_072, on: 5, rig)
    #expect(rig.goAwayCode() == nil)
    #expect(rig.streams[2].stream.untaken == 131_072)
  }

  @Test("While an upload stalls, another one goes on, however much of the connection's window the first holds")
  func besideStalledUpload() {
    let rig = HTTP2Rig()
    for stream: UInt32 in [1, 3, 5] { rig.request(ordinaryFields, stream: stream, end: false) }
    _ = rig.frames()
    let stalled = rig.streams[0].stream
    for window in [131_072, 262_144] {
      send(window, on: 1, rig)
      rig.session.consume(window, on: stalled)
      _ = rig.frames()
    }
    send(524_288, on: 1, rig)
    send(16_384, on: 3, rig)
    for _ in 0..<100 {
      send(16_384, on: 5, rig)
      rig.session.consume(16_384, on: rig.streams[2].stream)
      guard rig.goAwayCode() == nil else { break }
    }
    #expect(rig.streams[2].content.count == 100 * 16_384)
    #expect(rig.session.untakenBytes == 524_288 + 16_384)
    // The growth of a window is another's once its stream has ended.
    rig.session.reset(stalled, .cancel)
    _ = rig.frames()
    send(131_072, on: 5, rig)
    rig.session.consume(131_072, on: rig.streams[2].stream)
    #expect(rig.session.window(of: rig.streams[2].stream) == 262_144)
  }

  @Test("Uploads that stall leave room for others also where the client was not told yet of what was taken before")
  func stalledBehindTaken() {
    let rig = HTTP2Rig()
    for stream: UInt32 in [1, 3, 5, 7] { rig.request(ordinaryFields, stream: stream, end: false) }
    var head = responseFields(413)
    rig.session.respond(&head, on: rig.streams[3].stream, isWhole: true)
    _ = rig.frames()
    // Less than half of the connection's window is consumed, of which nghttp2 does not tell.
    for window in [131_072, 262_144] {
      send(window, on: 1, rig)
      rig.session.consume(window, on: rig.streams[0].stream)
      _ = rig.frames()
    }
    send(524_288, on: 1, rig)
    for stream: UInt32 in [3, 5] { send(131_072, on: stream, rig) }
    #expect(rig.goAwayCode() == nil)
    #expect(rig.session.untakenBytes == 524_288 + 2 * 131_072)
    // Content that is discarded is consumed as well.
    for _ in 0..<8 {
      send(65_536, on: 7, rig)
      #expect(rig.goAwayCode() == nil)
    }
    #expect(rig.streams[3].closed == nil)
  }

  @Test("An upload that has ended and was taken whole no longer keeps the window of another from growing")
  func growthOfEndedUpload() {
    for isTakenBeforeEnd in [true, false] {
      let rig = HTTP2Rig()
      for stream: UInt32 in [1, 3] { rig.request(ordinaryFields, stream: stream, end: false) }
      let (ended, other) = (rig.streams[0].stream, rig.streams[1].stream)
      for window in [131_072, 262_144] {
        send(window, on: 1, rig)
        rig.session.consume(window, on: ended)
        _ = rig.frames()
      }
      send(1, on: 1, rig)
      func end() { rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1)) }
      if !isTakenBeforeEnd { end() }
      func sendOther() -> Int {
        send(131_072, on: 3, rig)
        rig.session.consume(131_072, on: other)
        _ = rig.frames()
        return rig.session.window(of: other)
      }
      #expect(sendOther() == 131_072)
      rig.session.consume(1, on: ended)
      if isTakenBeforeEnd { end() }
      #expect(sendOther() == 262_144)
      #expect(rig.streams[0].closed == nil)
    }
  }

  private func send(_ count: Int, on stream: UInt32, _ rig: HTTP2Rig) {
    for place in stride(from: 0, to: count, by: 16_384) {
      let payload = [UInt8](repeating: 0, count: min(16_384, count - place))
      rig.receive(RawFrame(type: RawFrame.data, stream: stream, payload: payload))
    }
  }

  @Test("All streams together may send the protocol's 65,535 bytes, and more once the window is widened")
  func connectionWindow() {
    func piece(_ stream: UInt32, _ count: Int) -> RawFrame {
      RawFrame(type: RawFrame.data, stream: stream, payload: [UInt8](repeating: 0, count: count))
    }
    for (isWide, excess) in [(false, 0), (false, 1), (true, 1)] {
      let rig = HTTP2Rig(isWide: isWide)
      for stream: UInt32 in [1, 3] { rig.request(ordinaryFields, stream: stream, end: false) }
      for stream: UInt32 in [1, 1, 3] { rig.receive(piece(stream, 16_384)) }
      rig.receive(piece(3, 16_383 + excess))
      #expect(rig.goAwayCode() == (!isWide && excess > 0 ? HTTP2ErrorCode.flowControlError.rawValue : nil))
    }
  }

  @Test("A client without a window is sent no content, and the rest once it gives one")
  func noWindow() {
    let rig = HTTP2Rig()
    // SETTINGS_INITIAL_WINDOW_SIZE 0
    rig.receive(RawFrame(type: RawFrame.settings, payload: [0, 4, 0, 0, 0, 0]))
    rig.request(ordinaryFields)
    let stream = rig.streams[0].stream
    var head = responseFields(200)
    rig.session.respond(&head, on: stream, isWhole: false)
    rig.session.send(ByteBuffer(string: "hello"), on: stream)
    rig.session.end(stream, trailers: [])
    #expect(rig.frames().map(\.type) == [RawFrame.headers])
    #expect(stream.queuedBytes == 5)
    rig.receive(RawFrame(type: RawFrame.windowUpdate, stream: 1, payload: number(2)))
    #expect(rig.frames().map(\.payload) == [Array("he".utf8)])
    rig.receive(RawFrame(type: RawFrame.windowUpdate, stream: 1, payload: number(3)))
    #expect(rig.frames().map(\.payload) == [Array("llo".utf8)])
    #expect(rig.streams[0].sent == 2)
  }
}
