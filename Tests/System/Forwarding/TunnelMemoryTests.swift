import Foundation
import Testing

// Large bodies and slow readers: the gateway's memory stays as it was.
//
// `CORDON_BODY_MIB=2048` sends two gibibytes each way; without it a quarter of that.

@SystemActor
@Suite("Large bodies and slow readers")
struct TunnelMemoryTests {
  private nonisolated static let size =
    (ProcessInfo.processInfo.environment["CORDON_BODY_MIB"].flatMap { Int($0) } ?? 512) << 20
  private nonisolated static let piece = [UInt8](repeating: 0x78, count: 1 << 20)

  /// More than buffers and allocators vary by, and far less than any of the bodies.
  private static let allowedKiB = 24 * 1024

  /// Takes bodies and makes them, without ever holding one.
  private nonisolated static let endless: RawUpstream.ConnectionHandler = { connection, _ in
    while true {
      let head = try MessageHead(connection.read(through: "\r\n\r\n", by: .seconds(600)))
      if let length = head.fields["Content-Length"].flatMap({ Int($0) }) {
        try connection.discard(count: length, by: .seconds(120))
        try connection.send(RawUpstream.response(body: "took \(length)"))
      } else if head.startLine.contains("/large") {
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        for _ in 0..<size / piece.count { try connection.send(piece, by: .seconds(120)) }
      } else {
        try connection.send(RawUpstream.response(body: "fine"))
      }
    }
  }

  private func memory(of gateway: GatewayProcess, during work: () throws -> Void) throws -> Int {
    // What the first requests allocate once is not what a body costs.
    for _ in 0..<20 { _ = try gateway.client.get("/") }
    let before = try gateway.writtenKiB
    let most = Watched(before)
    let done = Watched(false)
    let pid = gateway.process.pid
    Thread.detachNewThread {
      while !done.current, let now = try? GatewayProcess.writtenKiB(of: pid) {
        most.update { $0 = max($0, now) }
        usleep(20_000)
      }
    }
    defer { done.update { $0 = true } }
    try work()
    return most.current - before
  }

  @Test("An upload and a download of any size pass, and memory stays flat")
  func largeBodies() throws {
    let upstream = try RawUpstream(connections: Self.endless)
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let grown = try memory(of: gateway) {
      let up = try gateway.connect()
      try up.send("POST /upload HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: \(Self.size)\r\n\r\n")
      for _ in 0..<Self.size / Self.piece.count { try up.send(Self.piece, by: .seconds(120)) }
      #expect(try HTTPResponse.read(from: up).text == "took \(Self.size)")
      let down = try gateway.connect()
      try down.send("GET /large HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
      let head = try MessageHead(down.read(through: "\r\n\r\n"))
      #expect(head.fields["Content-Length"] == "\(Self.size)")
      try down.discard(count: Self.size, by: .seconds(120))
    }
    #expect(grown < Self.allowedKiB, "\(grown) KiB")
    #expect(try gateway.client.get("/").status == 200)
  }

  @Test("Fifty clients that do not read hold back the application, not our memory")
  func slowReaders() throws {
    let upstream = try RawUpstream(connections: Self.endless)
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    var slow: [TCPConnection] = []
    let grown = try memory(of: gateway) {
      for _ in 0..<50 {
        let connection = try TCPConnection(port: gateway.configuration.port, receiveBuffer: 4_096)
        try connection.send("GET /large HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
        slow.append(connection)
      }
      for connection in slow { _ = try connection.read(through: "\r\n\r\n") }
      // The others are served meanwhile, often enough to see what grows.
      for _ in 0..<100 { #expect(try gateway.client.get("/beside").status == 200) }
    }
    #expect(grown < Self.allowedKiB, "\(grown) KiB")
    // Who begins to read gets on.
    try slow[0].discard(count: 8 << 20)
    for connection in slow { connection.close() }
    #expect(try gateway.client.get("/").status == 200)
  }
}
