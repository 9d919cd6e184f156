import NIOCore
import Testing

@testable import HTTPWire

// Cases: frames that can be sent without end; what is alike and not a flood: patience, responses that are taken,
// downloads, uploads that were refused, requests before the client knows how many may be open.

@Suite("Floods of HTTP/2 frames")
struct HTTP2BudgetTests {
  /// Frames that can be sent without end, and the number of them after which the connection must be over.
  struct Flood: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let limit: Int
    /// Whether the first request is answered.
    let isAnswered: Bool
    let next: @Sendable (UInt32) -> [UInt8]

    init(_ name: String, limit: Int, isAnswered: Bool = false, _ next: @escaping @Sendable (UInt32) -> [UInt8]) {
      testDescription = name
      self.limit = limit
      self.isAnswered = isAnswered
      self.next = next
    }
  }

  private static let head = RawFrame(type: RawFrame.headers, flags: 0x5, stream: 1, payload: section(ordinaryFields))

  static let floods = [
    Flood("rapid reset", limit: 500) { number in
      var head = head
      head.stream = number * 2 + 1
      return head.bytes + RawFrame(type: RawFrame.reset, stream: head.stream, payload: [0, 0, 0, 8]).bytes
    },
    Flood("made you reset: a window that overflows", limit: 500) { number in
      var head = head
      head.stream = number * 2 + 1
      let update = RawFrame(type: RawFrame.windowUpdate, stream: head.stream, payload: [0x7F, 0xFF, 0xFF, 0xFF])
      return head.bytes + update.bytes
    },
    Flood("made you reset: a window update of nothing", limit: 1_000) { number in
      var head = head
      head.stream = number * 2 + 1
      return head.bytes + RawFrame(type: RawFrame.windowUpdate, stream: head.stream, payload: [0, 0, 0, 0]).bytes
    },
    Flood("malformed requests", limit: 500) { number in
      RawFrame(
        type: RawFrame.headers, flags: 0x5, stream: number * 2 + 1, payload: section(ordinaryFields + [("te", "x")])
      ).bytes
    },
    Flood("SETTINGS", limit: 1_001) { _ in RawFrame(type: RawFrame.settings).bytes },
    Flood("PING", limit: 1_001) { _ in RawFrame(type: RawFrame.ping, payload: .init(repeating: 0, count: 8)).bytes },
    Flood("PRIORITY", limit: 1_001) { number in
      RawFrame(type: RawFrame.priority, stream: number * 2 + 1, payload: [0, 0, 0, 0, 1]).bytes
    },
    Flood("WINDOW_UPDATE", limit: 1_001) { _ in RawFrame(type: RawFrame.windowUpdate, payload: [0, 0, 0, 1]).bytes },
    Flood("unknown frames", limit: 1_001) { _ in RawFrame(type: 0xBE).bytes },
    Flood("empty DATA", limit: 1_003) { number in
      guard number > 0 else {
        return RawFrame(type: RawFrame.headers, flags: 0x4, stream: 1, payload: section(ordinaryFields)).bytes
      }
      return RawFrame(type: RawFrame.data, stream: 1).bytes
    },
    Flood("HEADERS for a request that was answered", limit: 1_003, isAnswered: true) { number in
      RawFrame(
        type: RawFrame.headers, flags: 0x4, stream: 1, payload: section(number > 0 ? [("x-sum", "1")] : ordinaryFields)
      ).bytes
    },
    Flood("empty CONTINUATION", limit: 1_003) { number in
      guard number > 0 else {
        return RawFrame(type: RawFrame.headers, stream: 1, payload: section(ordinaryFields)).bytes
      }
      return RawFrame(type: RawFrame.continuation, stream: 1).bytes
    },
  ]

  @Test("A flood ends its connection, and nothing more of it is read", arguments: floods)
  func flood(_ flood: Flood) {
    let rig = HTTP2Rig()
    var count = 0
    while !rig.session.isOver, count <= flood.limit * 2 {
      rig.receive(flood.next(UInt32(count)))
      if flood.isAnswered, let first = rig.streams.first, !first.isAnswered {
        var head = responseFields(401)
        rig.session.respond(&head, on: first.stream, isWhole: true)
      }
      _ = rig.frames()
      count += 1
    }
    #expect(rig.session.isOver)
    #expect(count <= flood.limit + 2)
    let told = rig.heads.count
    rig.request(ordinaryFields, stream: 100_001)
    #expect(rig.heads.count == told)
    #expect(rig.session.streamCount <= 1)
  }

  @Test("Streams that are given up now and then are not a flood: time pays for them")
  func patience() {
    let rig = HTTP2Rig()
    for count in 0..<900 {
      rig.receive(Self.floods[0].next(UInt32(count)))
      rig.now = rig.now + .milliseconds(60)
      _ = rig.frames()
    }
    #expect(!rig.session.isOver)
  }

  @Test("A client that takes as many responses as it gives up is not a flood, however fast it is")
  func payment() {
    let rig = HTTP2Rig()
    for count in 0..<900 {
      rig.receive(Self.floods[0].next(UInt32(2 * count)))
      rig.request(ordinaryFields, stream: UInt32(4 * count + 3))
      if let stream = rig.streams.last?.stream {
        var head = responseFields(204)
        rig.session.respond(&head, on: stream, isWhole: true)
      }
      _ = rig.frames()
    }
    #expect(!rig.session.isOver)
    #expect(rig.session.hasBeenReset)
  }

  @Test(
    "A download of many window updates is not a flood: content pays for them",
    arguments: [(1_000, 1_000), (16_384, 4_096), (16_384, 1_024)])
  func download(frame: Int, step: Int) {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields)
    var head = responseFields(200)
    rig.session.respond(&head, on: rig.streams[0].stream, isWhole: false)
    for _ in 0..<3_000 {
      rig.session.send(ByteBuffer(repeating: 0x61, count: frame), on: rig.streams[0].stream)
      _ = rig.frames()
      for _ in 0..<frame / step {
        rig.receive(
          RawFrame(type: RawFrame.windowUpdate, stream: 1, payload: number(UInt32(step))),
          RawFrame(type: RawFrame.windowUpdate, payload: number(UInt32(step))))
      }
    }
    #expect(!rig.session.isOver)
  }

  @Test("The content under way of uploads that were refused is not a flood; more of it is")
  func refusedUploads() {
    let rig = HTTP2Rig()
    func refuse(_ number: Int, thenSend count: Int) {
      rig.request(ordinaryFields, stream: UInt32(2 * number + 1), end: false)
      if let stream = rig.streams.last?.stream {
        var head = responseFields(401)
        rig.session.respond(&head, on: stream, isWhole: true)
        _ = rig.frames()
        rig.session.reset(stream, .noError)
      }
      _ = rig.frames()
      let frame = RawFrame(
        type: RawFrame.data, stream: UInt32(2 * number + 1), payload: .init(repeating: 0x61, count: 16_384)
      ).bytes
      for _ in 0..<count / 16_384 {
        // A read of content alone.
        rig.receive(Array(frame[..<1_000]))
        rig.receive(Array(frame[1_000...]))
      }
    }
    for number in 0..<100 { refuse(number, thenSend: 131_072) }
    #expect(!rig.session.isOver)
    refuse(100, thenSend: 4 * 1_048_576)
    _ = rig.frames()
    #expect(rig.session.isOver)
  }

  @Test("More requests than may be open are refused, and are not a flood before the client knows how many may")
  func refusedStreams() {
    let rig = HTTP2Rig(acknowledges: false)
    for number in 0..<300 { rig.request(ordinaryFields, stream: UInt32(2 * number + 1)) }
    let refused = rig.frames().filter { $0.type == RawFrame.reset }
    #expect(rig.heads.count == 100 && refused.count == 200)
    #expect(refused.allSatisfy { $0.code() == HTTP2ErrorCode.refusedStream.rawValue })
    #expect(!rig.session.isOver && !rig.session.hasBeenReset)
  }
}
