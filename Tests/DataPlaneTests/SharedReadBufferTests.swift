import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

@Suite("Receive buffers that connections share")
struct SharedReadBufferTests {
  private let allocator = ByteBufferAllocator()

  @Test("A buffer that is no longer held is read into again")
  func again() {
    var bulk = SharedReadBuffer(size: ReceiveBufferMode.largeRead)
    var first = bulk.take(allocator)
    first.writeRepeatingByte(1, count: 100_000)
    let place = place(of: first)
    bulk.give(first)
    first = ByteBuffer()
    let second = bulk.take(allocator)
    #expect(self.place(of: second) == place)
    #expect(second.readableBytes == 0 && second.writableBytes == ReceiveBufferMode.largeRead)
  }

  @Test("A buffer that is held stays as it is, and the next read takes new memory")
  func held() {
    var bulk = SharedReadBuffer(size: ReceiveBufferMode.largeRead)
    var first = bulk.take(allocator)
    first.writeRepeatingByte(1, count: 100_000)
    let held = first.getSlice(at: 50_000, length: 10)
    bulk.give(first)
    first = ByteBuffer()
    var second = bulk.take(allocator)
    second.writeRepeatingByte(2, count: 100_000)
    #expect(held.map { Array($0.readableBytesView) } == Array(repeating: 1, count: 10))
    #expect(second.storageCapacity == ReceiveBufferMode.largeRead)
  }

  @Test("The buffer for large reads is lent to one connection at a time")
  func one() {
    var bulk = SharedReadBuffer(size: ReceiveBufferMode.largeRead)
    bulk.give(bulk.take(allocator))
    let (first, second) = (bulk.take(allocator), bulk.take(allocator))
    #expect(place(of: first) != place(of: second))
  }

  @Test("A buffer of another size is not kept")
  func otherSize() {
    var bulk = SharedReadBuffer(size: ReceiveBufferMode.largeRead)
    bulk.give(allocator.buffer(capacity: 1_024))
    #expect(bulk.take(allocator).storageCapacity == ReceiveBufferMode.largeRead)
  }

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

  @Test("A channel keeps a tiny receive buffer only, whatever it has read")
  func keepsLittle() {
    let loop = EmbeddedEventLoop()
    let shared = SharedReadBuffers(loop).buffer(.frugal)
    var pool = NIOPooledRecvBufferAllocator(
      capacity: 1, recvAllocator: SharedReadAllocator(shared, isFirst: true))
    var sizes: [Int] = []
    var places: [UnsafeRawPointer?] = []
    for _ in 0..<4 {
      var (buffer, count) = pool.buffer(allocator: allocator) { $0.writeInteger(UInt64(0)) }
      pool.record(actualReadBytes: count)
      sizes.append(buffer.storageCapacity)
      places.append(place(of: buffer))
      shared.value.give(buffer)
      buffer = ByteBuffer()
    }
    #expect(sizes == [SharedReadAllocator.firstRead] + Array(repeating: ReceiveBufferMode.smallRead, count: 3))
    // The channel's own buffer stays with it, and the loop's is read into again.
    #expect(Set(places).count == 2 && places[1] == places[3])
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

  @Test("A head is read whether it ends within the first read of its connection, with it, or behind it")
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
          try client.send(String(repeating: "A", count: SharedReadAllocator.firstRead))
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

  private func place(of buffer: ByteBuffer) -> UnsafeRawPointer? {
    buffer.withVeryUnsafeBytes { $0.baseAddress }
  }
}
