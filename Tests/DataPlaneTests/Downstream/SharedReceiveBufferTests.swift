import Testing

@testable import DataPlane

@Suite("Connections that share their receive buffers")
struct SharedReceiveBufferTests {
  @Test("Large responses at the same time, to fast clients and slow ones, do not mix")
  func many() async throws {
    let size = 3_000_000
    try await withGateway(
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          let digit = head.utf8.dropFirst("GET /".utf8.count).first ?? 0
          try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
          try socket.send([UInt8](repeating: digit, count: size))
        }
      },
      { rig async throws in
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for number in 0..<8 {
            group.addTask {
              try await blocking {
                let client = try rig.connect(receiveBuffer: number % 2 == 0 ? 4_096 : nil)
                let digit = UInt8(ascii: "0") + UInt8(number)
                for _ in 0..<2 {
                  try client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                  guard try client.readResponse().body == [UInt8](repeating: digit, count: size) else { return false }
                }
                return true
              }
            }
          }
          for try await isWhole in group { #expect(isWhole) }
        }
      })
  }

  @Test("Requests that arrive in pieces on many connections at the same time do not mix")
  func pieces() async throws {
    try await withGateway { rig async throws in
      try await blocking {
        let clients = try (0..<20).map { _ in try rig.connect() }
        for round in 0..<3 {
          // Heads and bodies of every length up to a few reads; each next piece comes when all have sent theirs.
          let bodies = (0..<clients.count).map { String(repeating: "\($0).", count: 1 + $0 * $0 * (round + 1)) }
          let requests = bodies.map {
            Array("POST /\($0.utf8.count) HTTP/1.1\r\nHost: a\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)".utf8)
          }
          for part in 0..<4 {
            for (client, request) in zip(clients, requests) {
              try client.send(Array(request[request.count * part / 4..<request.count * (part + 1) / 4]))
            }
          }
          for (client, body) in zip(clients, bodies) {
            let text = try client.readResponse().text
            #expect(text.hasSuffix(":" + body))
          }
        }
      }
    }
  }

  @Test("A head that is the first thing on its connection is read, whole or not")
  func firstRead() async throws {
    try await withGateway(
      script: { socket, _ in
        while true {
          let head = try socket.readHead()
          try socket.answer(String(head.prefix { $0 != " " }))
        }
      },
      { rig async throws in
        for method in ["A", "AB", "ABCDEFGHIJKLMNOPQRST"] {
          let response = try await rig.exchange("\(method) / HTTP/1.0\r\n\r\n")
          #expect(response.text == method)
        }
        // Nothing follows the first bytes of a head: they are refused when the client has ended its side.
        let refused = try await blocking {
          let client = try rig.connect()
          try client.send(String(repeating: "A", count: 16))
          client.finish()
          return try client.readResponse().status
        }
        #expect(refused == 400)
      })
  }

  @Test("Large bodies at the same time, to applications that read fast or slowly, do not mix")
  func bodies() async throws {
    let size = 3_000_000
    try await withGateway(
      receiveBuffer: 4_096,
      script: { socket, number in
        while true {
          let head = try socket.readHead()
          let digit = head.utf8.dropFirst("POST /".utf8.count).first ?? 0
          if number % 2 == 0 { try RawSocket.pause() }
          let body = try socket.read(count: size)
          try socket.answer(body.allSatisfy { $0 == digit } ? "whole" : "mixed")
        }
      },
      { rig async throws in
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for number in 0..<6 {
            group.addTask {
              try await blocking {
                let client = try rig.connect()
                let digit = UInt8(ascii: "0") + UInt8(number)
                for _ in 0..<2 {
                  try client.send("POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
                  try client.send([UInt8](repeating: digit, count: size))
                  guard try client.readResponse().text == "whole" else { return false }
                }
                return true
              }
            }
          }
          for try await isWhole in group { #expect(isWhole) }
        }
      })
  }
}
