import HTTPWire
import NIOCore
import Synchronization
import Testing
import WaitingTesting

@testable import DataPlane

// Cases: a response that fails in the read of its header, to clients of both versions; one that is whole by its length;
// interim responses: many small ones, large ones out of the table of HPACK.

/// Applications in HTTP/2. In raw frames, because they have to arrive in one read.
@Suite("Responses over HTTP/2 from an application")
struct HTTP2UpstreamTests {
  private static func frame(_ type: UInt8, _ payload: [UInt8], flags: UInt8 = 0, stream: UInt8 = 1) -> [UInt8] {
    let length = payload.count
    return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags, 0, 0, 0, stream]
      + payload
  }

  private static func data(_ text: String, isEnd: Bool = false) -> [UInt8] {
    frame(0, Array(text.utf8), flags: isEnd ? 0x1 : 0)
  }

  private static let reset = frame(3, [0, 0, 0, 2])
  /// A frame that no connection may have: WINDOW_UPDATE by nothing.
  private static let connectionError = frame(8, [0, 0, 0, 0], stream: 0)

  /// The header of a response with status 200, in HPACK's indexed field 8.
  /// - Parameter length: its `content-length`, in literal 28 without indexing.
  private static func head(length: Int? = nil) -> [UInt8] {
    let digits = length.map { Array(String($0).utf8) }
    return frame(1, [0x88] + (digits.map { [0x0F, 0x0D, UInt8($0.count)] + $0 } ?? []), flags: 0x4)
  }

  private static func interim(_ status: String) -> [UInt8] { frame(1, [0x08, 3] + Array(status.utf8), flags: 0x4) }

  /// A gateway whose application answers the first request of each connection with these bytes at once.
  private func withAnswer(
    _ answer: [UInt8], to protocols: [HTTPProtocol] = [.http1], _ body: (GatewayRig) async throws -> Void
  ) async throws {
    try await withGateway(
      listener: { $0.main.protocols = protocols }, upstream: { $0.speaks = .http2 },
      script: { socket, _ in
        _ = try socket.read(count: 24)
        try socket.send(Self.frame(4, [], stream: 0))
        while true {
          let frame = try Self.readFrame(socket).head
          if frame[3] == 1 { try socket.send(answer) }
        }
      }, body)
  }

  private static let failures: [(String, [UInt8])] = [
    ("a reset", head() + reset), ("a reset after content", head(length: 10) + data("hel") + reset),
    ("too little content", head(length: 10) + data("hel", isEnd: true)),
    ("too much content", head(length: 2) + data("hel", isEnd: true)),
    ("a reset after content without a length", head() + data("hel") + reset),
    ("an interim response first", interim("103") + head(length: 10) + reset),
    ("an error of the connection", head(length: 10) + connectionError),
  ]

  @Test("A response that fails in the read of its header is 502", arguments: failures)
  func failing(_ name: String, _ answer: [UInt8]) async throws {
    try await withAnswer(answer) { rig async throws in
      let statuses = try await blocking {
        let client = try rig.connect()
        return try (0..<2).map { _ in
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          var status = try client.readResponse().status
          while status < 200 { status = try client.readResponse().status }
          return status
        }
      }
      #expect(statuses == [502, 502])
      #expect(await eventually { rig.log.statuses == [502, 502] })
      #expect(rig.log.failures == [.upstreamMalformed, .upstreamMalformed])
    }
  }

  @Test("An HTTP/2 client gets 502, too", arguments: failures)
  func failingToHTTP2(_ name: String, _ answer: [UInt8]) async throws {
    try await withAnswer(answer, to: [.http2]) { rig async throws in
      let client = try rig.connect()
      let request = Self.frame(1, [0x82, 0x86, 0x84, 0x01, 1, UInt8(ascii: "a")], flags: 0x5)
      try client.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, [], stream: 0) + request)
      // After an interim one, if there is any; without it, reading ends with an error.
      try await blocking {
        while true {
          let (frame, payload) = try Self.readFrame(client)
          if frame[3] == 1, payload.contains(Self.badGateway) { return }
        }
      }
      #expect(await eventually { rig.log.statuses == [502] })
    }
  }

  /// `:status: 502` in HPACK: name of the indexed field 8, the value by Huffman's code (RFC 7541, appendix B).
  private static let badGateway: [UInt8] = [0x48, 0x82, 0x6C, 0x02]

  @Test("A response that is whole by its length is passed on, although a reset follows in the same read")
  func wholeByLength() async throws {
    try await withAnswer(Self.head(length: 3) + Self.data("hel") + Self.reset) { rig async throws in
      let response = try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      #expect(response.status == 200 && response.text == "hel")
    }
  }

  @Test("A response without content gets the length 0, but for a 304: that would be the length of what was not sent")
  func emptyResponses() async throws {
    // `:status` 200 and 304, HPACK's indexed fields 8 and 11.
    let cases: [(status: Int, field: UInt8, length: String?)] = [(200, 0x88, "0"), (304, 0x8B, nil)]
    for (status, field, length) in cases {
      try await withAnswer(Self.frame(1, [field], flags: 0x5)) { rig async throws in
        let response = try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.status == status && response.value("content-length") == length)
      }
    }
  }

  @Test("White space around a value, as in the messages of gRPC, is dropped, in a header and in trailers")
  func whiteSpace() async throws {
    func field(_ name: String, _ value: String) -> [UInt8] {
      [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }
    let head = Self.frame(1, [0x88] + field("x-note", " no such user: "), flags: 0x4)
    let trailers = Self.frame(1, field("grpc-message", "gone: "), flags: 0x5)
    try await withAnswer(head + Self.data("hel") + trailers) { rig async throws in
      let all = try await blocking {
        let client = try rig.connect()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n")
        return String(decoding: try client.readToEnd(), as: UTF8.self)
      }
      #expect(all.contains("\r\nx-note: no such user:\r\n"), "\(all)")
      #expect(all.hasSuffix("\r\n0\r\ngrpc-message: gone:\r\n\r\n"), "\(all)")
    }
  }

  /// Interim responses out of a field of the dynamic table, 16 times 3,900 bytes each.
  private static func largeInterim(_ count: Int) -> [UInt8] {
    let status = [0x08, 3] + Array("102".utf8)
    // 3,900 as a number with a prefix of seven bits (RFC 7541, 5.1).
    let field = [0x40, 1, UInt8(ascii: "a"), 0x7F, 0xBD, 0x1D] + [UInt8](repeating: 0x76, count: 3_900)
    let large = frame(1, status + [UInt8](repeating: 0xBE, count: 16), flags: 0x4)
    return frame(1, status + field, flags: 0x4) + (0..<count).flatMap { _ in large }
  }

  @Test("Interim responses that HPACK unpacks to megabytes are a malformed response")
  func amplified() async throws {
    try await withAnswer(Self.largeInterim(2_000) + Self.head(length: 0)) { rig async throws in
      let all = try await blocking {
        let client = try rig.connect()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return String(decoding: try client.readToEnd(), as: UTF8.self)
      }
      #expect(all.contains("HTTP/1.1 502") && all.hasSuffix("interim responses too large"))
    }
  }

  @Test("Of thousands of small interim responses 32 are passed on, and of large ones as many")
  func manyInterim() async throws {
    let small = (0..<9_000).flatMap { _ in Self.interim("102") }
    for interim in [small, Self.largeInterim(40)] {
      try await withAnswer(interim + Self.head(length: 1) + Self.data("a", isEnd: true)) { rig async throws in
        let all = try await blocking {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          return String(decoding: try client.readToEnd(), as: UTF8.self)
        }
        #expect(all.ranges(of: "HTTP/1.1 102").count == 32 && all.ranges(of: "HTTP/1.1 200").count == 1)
      }
    }
  }

  /// Reads a frame: its head and its payload.
  private static func readFrame(_ socket: RawSocket) throws -> (head: [UInt8], payload: [UInt8]) {
    let head = try socket.read(count: 9)
    return (head, try socket.read(count: Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])))
  }

  /// Sends an upload of an HTTP/2 client as fast as the windows permit, and waits until the gateway has read all of it.
  private static func upload(_ total: Int, by client: RawSocket) throws {
    let head = frame(1, [0x83, 0x86, 0x84, 0x01, 1, UInt8(ascii: "a")], flags: 0x4)
    try client.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, [], stream: 0) + head)
    // Nothing is sent before the gateway's settings have come.
    var (connection, stream, sent) = (65_535, 0, 0)
    while sent < total {
      let count = min(16_384, stream, connection, total - sent)
      if count > 0 {
        sent += count
        try client.send(frame(0, [UInt8](repeating: 0x78, count: count), flags: sent == total ? 0x1 : 0))
        stream -= count
        connection -= count
        continue
      }
      let (frame, payload) = try readFrame(client)
      func number(_ place: Int) -> Int { payload[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
      switch frame[3] {
      case 4:
        guard frame[4] == 0 else { continue }
        try client.send(Self.frame(4, [], flags: 0x1, stream: 0))
        // SETTINGS_INITIAL_WINDOW_SIZE.
        for place in stride(from: 0, to: payload.count, by: 6) where payload[place + 1] == 4 {
          stream += number(place + 2)
        }
      case 8: if frame[8] == 0 { connection += number(0) } else { stream += number(0) }
      default: break
      }
    }
    // The acknowledgement of a PING comes after everything before it was read.
    try client.send(frame(6, [UInt8](repeating: 0, count: 8), stream: 0))
    while try readFrame(client).head[3] != 6 {}
  }

  @Test("After an upload that was answered before all of it was taken, the next one on its connection goes on")
  func answeredEarly() async throws {
    let isUploaded = Atomic(false)
    let hasSecond = Atomic(false)
    try await withGateway(
      listener: { $0.main.protocols = [.http1, .http2] }, upstream: { $0.speaks = .http2 },
      script: { socket, number in
        #expect(number == 0, "the connection was not used again")
        _ = try socket.read(count: 24)
        try socket.send(Self.frame(4, [], stream: 0))
        while true {
          let frame = try Self.readFrame(socket).head
          let answer = Self.frame(1, [0x88], flags: 0x5, stream: frame[8])
          switch (frame[3], frame[8]) {
          case (1, 1):
            try waitUntil { isUploaded.load(ordering: .acquiring) }
            // RFC 9113, 8.1: the response is whole, and the rest of the request is not wanted.
            try socket.send(answer + Self.frame(3, [0, 0, 0, 0]) + Self.frame(8, [0, 0, 0xFF, 0xFF], stream: 0))
          case (1, _): hasSecond.store(true, ordering: .releasing)
          case (0, 3): if frame[4] & 0x1 != 0 { try socket.send(answer) }
          default: break
          }
        }
      },
      { rig in
        try await blocking {
          let first = try rig.connect()
          // A byte more than the application's window, and what may be queued for it.
          try Self.upload(65_535 + 131_072 + 1, by: first)
          isUploaded.store(true, ordering: .releasing)
          try waitUntil { rig.log.statuses == [200] }
          let second = try rig.connect()
          try second.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
          try waitUntil { hasSecond.load(ordering: .acquiring) }
          try second.send("hello")
          #expect(try second.readResponse().status == 200)
        }
      })
  }
}
