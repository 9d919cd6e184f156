import NIOCore
import Testing

@testable import HTTPWire

// Cases: responses and what ends them, their order, interim responses, ends. Flow control: HTTP2WindowTests.

@Suite("Sessions of HTTP/2")
struct HTTP2SessionTests {
  @Test("All that one read asks for is answered by one buffer, heads and content together")
  func batch() {
    let rig = HTTP2Rig()
    rig.receive(
      [UInt32(1), 3, 5].flatMap { stream in
        RawFrame(type: RawFrame.headers, flags: 0x5, stream: stream, payload: section(ordinaryFields)).bytes
      })
    for stream in rig.streams {
      var head = responseFields(200, ("x", "y"))
      rig.session.respond(&head, on: stream.stream, isWhole: false)
      rig.session.send(ByteBuffer(string: "hello"), on: stream.stream)
      rig.session.end(stream.stream, trailers: [])
    }
    let frames = rig.frames()
    #expect(frames.filter { $0.type == RawFrame.headers }.count == 3)
    let data = frames.filter { $0.type == RawFrame.data }
    #expect(data.map(\.payload) == Array(repeating: Array("hello".utf8), count: 3))
    #expect(data.allSatisfy { $0.flags == RawFrame.endStream })
    #expect(rig.streams.allSatisfy { $0.closed == 0 && $0.stream.isClosed })
    #expect(rig.session.streamCount == 0)
  }

  @Test("Responses leave in the order that clients ask for, and share the connection where they ask for none")
  func priorities() {
    func order(_ said: [String?]) -> [UInt32] {
      let rig = HTTP2Rig()
      for (place, priority) in said.enumerated() {
        rig.request(ordinaryFields + (priority.map { [("priority", $0)] } ?? []), stream: UInt32(2 * place + 1))
      }
      for stream in rig.streams {
        var fields = HTTP2Fields()
        fields.begin(status: 200)
        rig.session.respond(&fields, on: stream.stream, isWhole: false)
        rig.session.send(ByteBuffer(repeating: 0x61, count: 20_000), on: stream.stream)
        rig.session.end(stream.stream, trailers: [])
      }
      return rig.frames().filter { $0.type == RawFrame.data }.map(\.stream)
    }
    #expect(order(["u=7", "u=1", "u=3"]) == [3, 3, 5, 5, 1, 1])
    #expect(order(["", "", "u=2"]) == [5, 5, 1, 1, 3, 3])
    #expect(order(["u=1, i", "i,u=1"]) == [1, 3, 1, 3])
    #expect(order([nil, nil, nil]) == [1, 3, 5, 1, 3, 5])
    #expect(order([nil, "u=2", nil]) == [3, 3, 1, 5, 1, 5])
    #expect(order(["u=9, x=\"a,b\"", "u=0;a"]) == [3, 3, 1, 1])
  }

  @Test("A closed session takes every call, and does nothing")
  func closed() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields, end: false)
    rig.request(ordinaryFields, stream: 3)
    let (deferred, other) = (rig.streams[0].stream, rig.streams[1].stream)
    var head = responseFields(200)
    rig.session.respond(&head, on: deferred, isWhole: false)
    _ = rig.frames()
    let session = rig.session
    session.close()
    #expect(rig.streams.allSatisfy { $0.closed == HTTP2ErrorCode.cancel.rawValue } && session.isOver)
    #expect(rig.streams.allSatisfy { $0.stream.isClosed })
    session.terminate(.enhanceYourCalm)
    session.beginGracefulShutdown()
    session.goAway()
    session.widenConnectionWindow()
    session.becameTunnel(other)
    session.inform(&head, on: other)
    session.respond(&head, on: other, isWhole: true)
    for stream in [deferred, other] {
      session.send(ByteBuffer(string: "x"), on: stream)
      session.end(stream, trailers: Array("a: b\r\n".utf8))
      session.consume(1, on: stream)
      session.reset(stream, .cancel)
      #expect(!session.hasWindow(stream))
    }
    session.shrink()
    session.close()
    rig.request(ordinaryFields, stream: 5)
    #expect(rig.frames().isEmpty && rig.streams.count == 2)
    #expect(!session.wantsToWrite)
  }

  @Test("A closed session of a client begins no request")
  func closedClient() {
    let session = HTTP2ClientSession(HTTP2Policy(applicationHeads: ordinaryLimits), now: .uptimeNanoseconds(1))
    session.close()
    var fields = HTTP2Fields()
    fields.append(name: ":method", value: "GET")
    let handler = HTTP2Rig.Stream(HTTP2InboundStream(id: 1))
    #expect(session.request(&fields, isWhole: true, handler: handler) == nil)
    #expect(session.isOver && !session.wantsToWrite && !session.takesRequests)
  }

  @Test("Content that comes later is passed on when it comes, and trailers end it")
  func later() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields)
    let stream = rig.streams[0].stream
    var interim = responseFields(103)
    rig.session.inform(&interim, on: stream)
    var head = responseFields(200)
    rig.session.respond(&head, on: stream, isWhole: false)
    #expect(rig.frames().map(\.type) == [RawFrame.headers, RawFrame.headers])
    rig.session.send(ByteBuffer(string: "a"), on: stream)
    #expect(rig.frames().map(\.payload) == [Array("a".utf8)])
    #expect(rig.frames().isEmpty)
    rig.session.send(ByteBuffer(string: "b"), on: stream)
    rig.session.end(stream, trailers: Array("Grpc-Status: 0\r\n".utf8))
    let last = rig.frames()
    #expect(last.map(\.type) == [RawFrame.data, RawFrame.headers])
    #expect(last.last?.flags == RawFrame.endStream | RawFrame.endHeaders)
  }

  @Test("A response head up to the limit can be sent, and is; a byte more cannot", arguments: [0, 1])
  func largestHead(_ excess: Int) {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields)
    let stream = rig.streams[0].stream
    // Characters that Huffman codes do not shorten.
    let value = String(repeating: "~", count: 1_000)
    var head = responseFields(200)
    for _ in 0..<200 { head.append(name: "x", value: value) }
    let size = 17 + 12 * 202 + 10 + 200 * 1_001 + 1
    head.append(name: "x", value: String(repeating: "~", count: HTTP2Policy.sentSectionBytes - size + excess))
    let canBeSent = head.canBeSent
    #expect(canBeSent == (excess == 0))
    rig.session.respond(&head, on: stream, isWhole: true)
    let frames = rig.frames()
    #expect(frames.contains { $0.type == RawFrame.headers } == (excess == 0))
    #expect(frames.contains { $0.type == RawFrame.reset } == (excess == 1))
  }

  @Test("An answer before the end of the request does not leave together with the reset that stops the rest of it")
  func early() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields, end: false)
    var head = responseFields(413)
    rig.session.respond(&head, on: rig.streams[0].stream, isWhole: true)
    #expect(rig.frames().map(\.type) == [RawFrame.headers])
    #expect(rig.streams[0].isAnswered)
    rig.session.reset(rig.streams[0].stream, .noError)
    #expect(rig.resetCode() == HTTP2ErrorCode.noError.rawValue)
  }

  @Test("A request that was answered before it was whole stays open for its end, and what comes of it is discarded")
  func answered() throws {
    let rig = HTTP2Rig()
    for stream in [UInt32(1), 3, 5] { rig.request(ordinaryFields, stream: stream, end: false) }
    rig.receive(RawFrame(type: RawFrame.data, stream: 1, payload: Array("abc".utf8)))
    for stream in rig.streams {
      var head = responseFields(401)
      rig.session.respond(&head, on: stream.stream, isWhole: true)
    }
    #expect(!rig.frames().contains { $0.type == RawFrame.reset })
    #expect(rig.streams.allSatisfy { $0.isAnswered && $0.closed == nil })
    #expect(rig.session.untakenBytes == 0, "other streams have the room")
    for stream in [UInt32(1), 3] {
      rig.receive(RawFrame(type: RawFrame.data, stream: stream, payload: .init(repeating: 0x61, count: 10_000)))
    }
    rig.receive(RawFrame(type: RawFrame.data, flags: RawFrame.endStream, stream: 1))
    rig.request([("x-sum", "1")], stream: 3)
    rig.receive(RawFrame(type: RawFrame.reset, stream: 5, payload: number(8)))
    #expect(rig.streams.map(\.content) == [Array("abc".utf8), [], []])
    #expect(rig.streams.allSatisfy { $0.trailers == nil })
    #expect(rig.streams.map(\.closed) == [0, 0, 8])
    #expect(rig.session.untakenBytes == 0 && !rig.session.hasBeenReset)
    #expect(!rig.frames().contains { $0.type == RawFrame.reset })
  }

  @Test("A client that ends a request short of its length because it was answered gets a reset without an error")
  func answeredAndCutShort() {
    let rig = HTTP2Rig()
    for stream in [UInt32(1), 3, 5] {
      rig.request(ordinaryFields + [("content-length", "5")], stream: stream, end: false)
    }
    for stream in rig.streams {
      var head = responseFields(413)
      rig.session.respond(&head, on: stream.stream, isWhole: true)
    }
    #expect(!rig.frames().contains { $0.type == RawFrame.reset })
    let end = RawFrame.endStream
    rig.receive(
      RawFrame(type: RawFrame.data, flags: end, stream: 1, payload: Array("abc".utf8)),
      RawFrame(type: RawFrame.data, flags: end, stream: 3, payload: Array("abcde".utf8)),
      RawFrame(type: RawFrame.data, flags: end, stream: 5, payload: Array("abcdef".utf8)))
    let resets = rig.frames().filter { $0.type == RawFrame.reset }
    #expect(resets.map(\.stream) == [1, 5] && resets.allSatisfy { $0.code() == HTTP2ErrorCode.noError.rawValue })
    #expect(rig.streams.map(\.closed) == [0, 0, 0])
    #expect(!rig.session.hasBeenReset, "it costs the client nothing")
  }

  @Test("A client that ends a request of unknown length after its answer is told of the room that is free again")
  func answeredAndEnded() {
    let rig = HTTP2Rig()
    for stream in [UInt32(1), 3, 5, 7] { rig.request(ordinaryFields, stream: stream, end: false) }
    rig.receive(RawFrame(type: RawFrame.data, stream: 1, payload: Array("abc".utf8)))
    // Waits for the application, and so is not told of.
    rig.receive(RawFrame(type: RawFrame.data, stream: 7, payload: Array("waits".utf8)))
    for stream in rig.streams.dropLast() {
      var head = responseFields(302)
      rig.session.respond(&head, on: stream.stream, isWhole: true)
    }
    _ = rig.allFrames()
    let end = RawFrame.endStream
    let ended: [(UInt32, String, room: UInt32?)] = [(1, "", 3), (3, "defg", 4), (5, "", nil)]
    for (stream, content, room) in ended {
      rig.receive(RawFrame(type: RawFrame.data, flags: end, stream: stream, payload: Array(content.utf8)))
      let expected = room.map { RawFrame(type: RawFrame.windowUpdate, payload: number($0)) }
      #expect(rig.allFrames() == [expected].compactMap(\.self), "stream \(stream)")
    }
    #expect(rig.streams.map(\.closed) == [0, 0, 0, nil] && !rig.session.hasBeenReset)
    rig.receive(RawFrame(type: RawFrame.data, flags: end, stream: 7))
    #expect(rig.allFrames().isEmpty, "a request that was not answered yet")
  }

  @Test("Tunnels raise the number of streams that a client may open, a step at a time and up to a limit")
  func tunnels() {
    let rig = HTTP2Rig {
      $0.concurrentStreams = 4
      $0.tunnelStreams = 5
      $0.tunnelStep = 2
    }
    func announced(afterTunnelOn stream: UInt32) -> [UInt32] {
      rig.request(ordinaryFields, stream: stream, end: false)
      guard let tunnel = rig.streams.last else { return [] }
      rig.session.becameTunnel(tunnel.stream)
      let settings = rig.allFrames().filter { $0.type == RawFrame.settings && $0.flags == 0 }
      for _ in settings { rig.receive(RawFrame(type: RawFrame.settings, flags: RawFrame.ack)) }
      // SETTINGS_MAX_CONCURRENT_STREAMS
      return settings.filter { $0.payload.starts(with: [0, 3]) }.map { $0.code(at: 2) }
    }
    let numbers = [UInt32(1), 3, 5, 7, 9, 11].map { announced(afterTunnelOn: $0) }
    #expect(numbers == [[6], [], [8], [], [9], []])
    #expect(rig.streams.count == 6)
  }

  // MARK: Closing

  @Test("Bytes that are not HTTP/2 end the connection at once")
  func noPreface() {
    let rig = HTTP2Rig()
    let session = HTTP2ServerSession(HTTP2Policy(heads: ordinaryLimits), now: rig.now)
    session.receive(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), now: rig.now)
    var buffer = ByteBuffer()
    session.produce(into: &buffer, limit: .max)
    #expect(session.isOver)
  }

  @Test("A request on a stream below a newer one ends the connection, and so does PRIORITY of the connection itself")
  func wrongStreams() {
    let older = HTTP2Rig()
    older.request(ordinaryFields, stream: 5)
    older.request(ordinaryFields, stream: 3)
    #expect(older.heads.count == 1)
    #expect(older.goAwayCode() == HTTP2ErrorCode.protocolError.rawValue)
    let priority = HTTP2Rig()
    priority.receive(RawFrame(type: RawFrame.priority, stream: 1, payload: [0, 0, 0, 0, 1]))
    #expect(priority.goAwayCode() == nil)
    priority.receive(RawFrame(type: RawFrame.priority, payload: [0, 0, 0, 0, 1]))
    #expect(priority.goAwayCode() == HTTP2ErrorCode.protocolError.rawValue)
  }

  @Test("A farewell says that nothing new is wanted, then which stream was the last, and ends with the streams")
  func farewell() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields)
    rig.session.beginGracefulShutdown()
    let notice = rig.frames()
    #expect(notice.first { $0.type == RawFrame.goAway }?.code() == 0x7FFF_FFFF)
    rig.request(ordinaryFields, stream: 3)
    let ping = notice.first { $0.type == RawFrame.ping }?.payload ?? []
    rig.receive(RawFrame(type: RawFrame.ping, flags: RawFrame.ack, payload: ping))
    #expect(rig.pongs == 1)
    rig.session.goAway()
    #expect(rig.frames().first { $0.type == RawFrame.goAway }?.code() == 3)
    #expect(rig.streams.count == 2)
    for stream in rig.streams {
      #expect(!rig.session.isOver)
      var head = responseFields(204)
      rig.session.respond(&head, on: stream.stream, isWhole: true)
      _ = rig.frames()
    }
    #expect(rig.session.isOver)
  }

  @Test("A connection that is lost closes its streams, each once")
  func lost() {
    let rig = HTTP2Rig()
    rig.request(ordinaryFields)
    rig.request(ordinaryFields, stream: 3, end: false)
    rig.session.close()
    rig.session.close()
    rig.session.widenConnectionWindow()
    #expect(rig.streams.map(\.closed) == [8, 8])
    rig.receive(RawFrame(type: RawFrame.ping, payload: .init(repeating: 0, count: 8)))
    #expect(rig.session.isOver)
  }

  @Test("Heads of responses count as queued until they are written, or dropped since their stream was closed")
  func queuedHeads() {
    let rig = HTTP2Rig()
    for stream: UInt32 in [1, 3] { rig.request(ordinaryFields, stream: stream) }
    let value = String(repeating: "v", count: 1_000)
    for stream in rig.streams {
      for _ in 0..<2 {
        var hints = responseFields(103, ("link", value))
        rig.session.inform(&hints, on: stream.stream)
      }
      var head = responseFields(200, ("x", value))
      rig.session.respond(&head, on: stream.stream, isWhole: false)
    }
    #expect(rig.session.queuedHeads > 6_000 && rig.session.queuedHeads < 7_500)
    var buffer = ByteBuffer()
    rig.session.produce(into: &buffer, limit: 1_500)
    #expect(rig.session.queuedHeads < 5_500 && rig.session.queuedHeads > 3_000)
    rig.receive(RawFrame(type: RawFrame.reset, stream: 3, payload: number(8)))
    #expect(rig.streams[1].closed == 8)
    #expect(rig.session.queuedHeads > 3_000, "nghttp2 still has them")
    _ = rig.frames()
    #expect(rig.session.queuedHeads == 0)
    #expect(rig.session.orphanedHeads.isEmpty)
    var late = responseFields(103, ("link", value))
    rig.session.inform(&late, on: rig.streams[1].stream)
    #expect(rig.session.queuedHeads == 0)
    rig.session.end(rig.streams[0].stream, trailers: Array("x: y\r\n".utf8))
    _ = rig.frames()
    #expect(rig.session.queuedHeads == 0, "trailers are not counted")
  }
}
