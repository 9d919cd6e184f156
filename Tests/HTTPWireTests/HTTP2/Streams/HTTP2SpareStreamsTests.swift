import NIOCore
import Testing

@testable import HTTPWire

@Suite("Closed streams of HTTP/2 that serve again")
struct HTTP2SpareStreamsTests {
  /// Counts handlers. They are not referred to weakly: an object that was has a side table, and never counts as
  /// uniquely referenced again.
  private final class Census {
    var made = 0
    var alive = 0
  }

  /// The owner of a session that keeps no handler.
  private final class Owner: HTTP2SessionHandler {
    final class Handler: HTTP2StreamHandler {
      let stream: HTTP2InboundStream
      private let census: Census
      init(_ stream: HTTP2InboundStream, in census: Census) {
        self.stream = stream
        self.census = census
        census.made += 1
        census.alive += 1
      }
      deinit { census.alive -= 1 }
      func received(content: ByteBuffer) {}
      func receivedEnd(trailers: [UInt8]) {}
      func sentContent() {}
      func closed(_ code: UInt32) {}
    }

    let session = HTTP2ServerSession(HTTP2Policy(heads: ordinaryLimits), now: .uptimeNanoseconds(1))
    private(set) var identifiers: [Int32] = []
    let census = Census()
    private var last: HTTP2InboundStream?
    /// Handlers that are referred to from elsewhere.
    var held: [Handler] = []
    var holds = false
    private var begun: UInt32 = 1

    init() {
      session.handler = self
      receive(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + RawFrame(type: RawFrame.settings).bytes)
    }

    deinit { session.close() }

    func receive(_ bytes: [UInt8]) { session.receive(ByteBuffer(bytes: bytes), now: .uptimeNanoseconds(1)) }

    /// One more request, answered or reset by its client.
    func exchange(isReset: Bool = false) {
      receive(
        RawFrame(
          type: RawFrame.headers, flags: isReset ? RawFrame.endHeaders : RawFrame.endHeaders | RawFrame.endStream,
          stream: begun, payload: section(ordinaryFields)
        ).bytes)
      if isReset {
        receive(RawFrame(type: RawFrame.reset, stream: begun, payload: number(8)).bytes)
      } else if let last {
        var fields = responseFields(200)
        session.respond(&fields, on: last, isWhole: true)
      }
      var buffer = ByteBuffer()
      session.produce(into: &buffer, limit: .max)
      begun += 2
    }

    func received(request head: RawSpan, on stream: HTTP2InboundStream, isWhole: Bool) -> any HTTP2StreamHandler {
      let handler = session.takeFormerHandler() as? Handler ?? Handler(stream, in: census)
      #expect(handler.stream === stream)
      identifiers.append(stream.id)
      last = stream
      if holds { held.append(handler) }
      return handler
    }

    func received(
      refusableOn stream: HTTP2InboundStream, head: RawSpan, status: Int, reason: String
    ) -> any HTTP2StreamHandler {
      Handler(stream, in: census)
    }
    func receivedMalformed(_ reason: String) {}
    func receivedPong() {}
  }

  @Test("A closed stream and its handler serve the next request, however it was closed", arguments: [false, true])
  func again(isReset: Bool) {
    let owner = Owner()
    for _ in 0..<3 { owner.exchange(isReset: isReset) }
    #expect(owner.identifiers == [1, 3, 5])
    #expect(owner.session.streamCount == 0)
    #expect(owner.census.made == 1)
  }

  @Test("A handler that is still referred to serves no other request")
  func held() {
    let owner = Owner()
    owner.holds = true
    for _ in 0..<3 { owner.exchange() }
    #expect(owner.census.made == 3)
    #expect(owner.held.map(\.stream.id) == [1, 3, 5])
  }

  @Test("Spare streams are freed when the connection is idle, and when it is closed", arguments: [true, false])
  func freed(isIdle: Bool) {
    let owner = Owner()
    owner.exchange()
    #expect(owner.census.alive == 1)
    if isIdle { owner.session.shrink() } else { owner.session.close() }
    #expect(owner.census.alive == 0)
  }

  @Test(
    "Nothing is left of a connection whose last request never came to be",
    arguments: [("a malformed field", RawFrame.endHeaders | RawFrame.endStream), ("a head that does not end", 0)])
  func incomplete(_ name: String, flags: UInt8) {
    let owner = Owner()
    owner.exchange()
    let fields = ordinaryFields + [("x-a", flags == 0 ? "1" : "\n")]
    owner.receive(RawFrame(type: RawFrame.headers, flags: flags, stream: 3, payload: section(fields)).bytes)
    var buffer = ByteBuffer()
    owner.session.produce(into: &buffer, limit: .max)
    #expect(owner.identifiers == [1])
    owner.session.close()
    #expect(owner.census.alive == 0)
  }

  @Test("No more are kept than a page may ask for")
  func limit() {
    var spare = HTTP2SpareStreams()
    let streams = (1...Int32(HTTP2SpareStreams.limit) + 8).map { HTTP2InboundStream(id: $0) }
    let census = Census()
    for stream in streams { spare.keep(stream, servedBy: Owner.Handler(stream, in: census)) }
    #expect(spare.count == HTTP2SpareStreams.limit && census.alive == HTTP2SpareStreams.limit)
    spare.removeAll()
    #expect(spare.count == 0 && census.alive == 0)
  }

  @Test("A stream that begins again has nothing of the one before")
  func state() {
    let stream = HTTP2InboundStream(id: 1)
    stream.handler = Owner.Handler(HTTP2InboundStream(id: 3), in: Census())
    stream.queue.append(ByteBuffer(string: "content"))
    stream.queue.append(ByteBuffer(string: "more"))
    stream.outgoing = .ended
    stream.trailers = [1]
    stream.untaken = 1
    stream.widenedWindow = 1
    stream.consumed = 1
    stream.incoming = .content(toCome: 1)
    stream.isReset = true
    stream.isEndSent = true
    stream.isTunnel = true
    stream.interimHeads = [1]
    stream.finalHead = 1
    stream.isClosed = true
    let fresh = describe(HTTP2InboundStream(id: 5))
    let used = describe(stream)
    // A property that is added has to be added here, too.
    for (label, value) in fresh { #expect(used[label] != value, "\(label)") }
    stream.begin(5)
    #expect(describe(stream) == fresh)
  }

  private func describe(_ stream: HTTP2InboundStream) -> [String: String] {
    // Those of the class, and those of its superclass.
    let mirrors = sequence(first: Mirror(reflecting: stream)) { $0.superclassMirror }
    let properties = mirrors.flatMap { Array($0.children) }
    return Dictionary(uniqueKeysWithValues: properties.map { ($0.label ?? "", String(reflecting: $0.value)) })
  }
}
