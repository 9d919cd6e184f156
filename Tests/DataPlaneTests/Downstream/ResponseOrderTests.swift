import Testing
import WaitingTesting

@testable import DataPlane

// Cases: responses that the client's socket takes at once, in part or not at all; pipelined or one by one; in chunks;
// after an interim response; the same connection throughout.

@Suite("Responses on their way to a client's socket")
struct ResponseOrderTests {
  /// Answers `/N` with N bytes: with a length, in chunks (`/N/chunks`), or after an interim response (`/N/hints`).
  private static let sized: ScriptedUpstream.Script = { socket, _ in
    while true {
      let target = try socket.readHead().split(separator: " ")[1].split(separator: "/")
      let size = Int(target[0]) ?? 0
      let body = String(repeating: "\(size % 10)", count: size)
      if target.last == "hints" { try socket.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") }
      if target.last == "chunks" {
        try socket.send(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(size, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
      } else {
        try socket.answer(body)
      }
    }
  }

  private static let sizes = [1, 100, 17_000, 90_000, 5, 400_000, 16_384, 3, 1_000_000, 2, 16_385]

  @Test(
    "Responses of all sizes are whole and in order for a slow client", arguments: ["", "/chunks", "/hints"])
  func slowClient(kind: String) async throws {
    try await withGateway(script: Self.sized) { rig async throws in
      try await blocking {
        let client = try rig.connect(receiveBuffer: 4_096)
        for pipelined in [true, false] {
          if pipelined {
            try client.send(Self.sizes.map { "GET /\($0)\(kind) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
          }
          for size in Self.sizes {
            if !pipelined { try client.send("GET /\(size)\(kind) HTTP/1.1\r\nHost: a\r\n\r\n") }
            if kind == "/hints" {
              let interim = try client.readHead()
              #expect(interim.hasPrefix("HTTP/1.1 103 "))
            }
            let response = try client.readResponse()
            #expect(response.status == 200)
            let byte = UInt8(ascii: "0") + UInt8(size % 10)
            #expect(response.body.count == size && response.body.allSatisfy { $0 == byte })
          }
        }
      }
      #expect(rig.log.statuses.allSatisfy { $0 == 200 })
    }
  }

  @Test("A client that has reset its connection ends the exchange, and the next client is served")
  func resetClient() async throws {
    try await withGateway(
      script: { socket, _ in
        _ = try socket.readHead()
        try RawSocket.pause()
        try socket.answer("late")
        _ = try socket.readHead()
        try socket.answer("next")
      },
      { rig async throws in
        try await blocking {
          let client = try rig.connect()
          try client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
          // A reset takes away what the gateway has not read.
          try waitUntil { rig.log.upstreams == 1 }
          client.reset()
        }
        #expect(await eventually { rig.log.statuses.count == 1 && rig.log.clients == 0 })
        let response = try await rig.exchange("GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.status == 200)
      })
  }
}
