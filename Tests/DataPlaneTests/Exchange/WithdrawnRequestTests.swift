import HTTPTypes
import NIOCore
import Synchronization
import Testing
import WaitingTesting

@testable import DataPlane

/// Requests over HTTP/2 that their client withdraws in the same read. In raw frames, because they have to arrive in one
/// read.
@Suite("Requests given up at once")
struct WithdrawnRequestTests {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(type: 4, stream: 0, [])

  private static func frame(type: UInt8, flags: UInt8 = 0, stream: Int, _ payload: [UInt8]) -> [UInt8] {
    [0, 0, UInt8(payload.count), type, flags, 0, 0, UInt8(stream >> 8), UInt8(stream & 0xFF)] + payload
  }

  /// A request for `path`: indexed fields and literals of HPACK's static table (RFC 7541, appendix A).
  private static func request(_ stream: Int, _ path: String) -> [UInt8] {
    let fields = [0x82, 0x86, 0x04, UInt8(path.utf8.count)] + Array(path.utf8) + [0x01, 1, UInt8(ascii: "a")]
    return frame(type: 1, flags: 0x5, stream: stream, fields)
  }

  private static func withdrawn(_ stream: Int, _ path: String) -> [UInt8] {
    request(stream, path) + frame(type: 3, stream: stream, [0, 0, 0, 8])
  }

  /// A POST that announces five bytes.
  private static func post(_ stream: Int, _ path: String) -> [UInt8] {
    let fields =
      [0x83, 0x86, 0x04, UInt8(path.utf8.count)] + Array(path.utf8) + [0x01, 1, UInt8(ascii: "a")]
      + [0x0F, 0x0D, 1, UInt8(ascii: "5")]
    return frame(type: 1, flags: 0x4, stream: stream, fields)
  }

  /// A gateway that answers by itself, and which paths its gate was asked about.
  private func withJudgements(
    _ body: (GatewayRig, _ judged: @escaping @Sendable () -> [String]) async throws -> Void
  ) async throws {
    let paths = Mutex<[String]>([])
    try await withGateway(
      gate: { path, _ in
        paths.withLock { $0.append(path) }
        return .answer(ControlResponse(.ok, body: []), label: .init(number: 1))
      },
      listener: { $0.main.protocols = [.http2] },
      { rig async throws in try await body(rig) { paths.withLock { $0 } } })
  }

  @Test("Withdrawn requests after the first do not reach the gate, and one that stays is answered")
  func notJudged() async throws {
    try await withJudgements { rig, judged in
      let client = try rig.connect()
      try client.send(Self.preface + Self.withdrawn(1, "/first"))
      try client.send(Self.withdrawn(3, "/second") + Self.request(5, "/stays") + Self.withdrawn(7, "/third"))
      #expect(await eventually { judged().contains("/stays") })
      #expect(judged() == ["/first", "/stays"])
      client.close()
    }
  }

  @Test("A request that turns out malformed in the read that began it is not begun upstream")
  func malformedBehindItsHead() async throws {
    let heads = Mutex<[String]>([])
    try await withGateway(
      listener: { $0.main.protocols = [.http2] },
      script: { socket, _ in
        while true {
          let request = try socket.readRequest()
          heads.withLock { $0.append(request.head) }
          try socket.answer("a")
        }
      },
      { rig async throws in
        let client = try rig.connect()
        // A connection that is kept: there a request begins at once.
        try client.send(Self.preface + Self.request(1, "/first"))
        #expect(await eventually { rig.log.statuses == [200] })
        let content = Self.frame(type: 0, stream: 3, Array("hello".utf8))
        let more = Self.frame(type: 0, flags: 0x1, stream: 3, [0x78])
        try client.send(Self.post(3, "/void") + content + more + Self.request(5, "/second"))
        #expect(await eventually { rig.log.statuses.count == 3 })
        try client.send(Self.post(7, "/whole") + Self.frame(type: 0, flags: 0x1, stream: 7, Array("hello".utf8)))
        #expect(await eventually { rig.log.statuses.count == 4 })
        client.close()
      })
    let begun = heads.withLock { $0.map { $0.split(separator: " ")[1] } }
    #expect(begun == ["/first", "/second", "/whole"])
  }

  @Test("A request that is open when the reset budget is spent does not reach the gate: the connection ends")
  func endOfAllowance() async throws {
    try await withJudgements { rig, judged in
      let client = try rig.connect()
      let pairs = { (numbers: Range<Int>) in numbers.flatMap { Self.withdrawn(2 * $0 + 1, "/w") } }
      try client.send(Self.preface + pairs(0..<499))
      #expect(await eventually { rig.log.began == 499 })
      // One read: the request that stays, and more requests given up than the full allowance, whatever it has regained.
      try client.send(Self.request(999, "/open") + pairs(500..<1_002))
      _ = try await blocking { try client.readToEnd() }
      #expect(judged() == ["/w"])
      // Those are logged as given up by the client, this one is not.
      #expect(await eventually { rig.log.failures.contains(.aborted) })
    }
  }
}
