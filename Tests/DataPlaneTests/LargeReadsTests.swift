import NIOCore
import Testing

@testable import DataPlane

@Suite("Reading in bulk")
struct BulkReadingTests {
  private let allocator = ByteBufferAllocator()

  @Test("A buffer that is no longer held is read into again")
  func again() {
    var bulk = LargeReads()
    var first = bulk.take(allocator)
    first.writeRepeatingByte(1, count: 100_000)
    let place = place(of: first)
    bulk.give(first)
    first = ByteBuffer()
    let second = bulk.take(allocator)
    #expect(self.place(of: second) == place)
    #expect(second.readableBytes == 0 && second.writableBytes == LargeReads.readSize)
  }

  @Test("A buffer that is held stays as it is, and the next read takes new memory")
  func held() {
    var bulk = LargeReads()
    var first = bulk.take(allocator)
    first.writeRepeatingByte(1, count: 100_000)
    let held = first.getSlice(at: 50_000, length: 10)
    bulk.give(first)
    first = ByteBuffer()
    var second = bulk.take(allocator)
    second.writeRepeatingByte(2, count: 100_000)
    #expect(held.map { Array($0.readableBytesView) } == Array(repeating: 1, count: 10))
    #expect(second.storageCapacity == LargeReads.readSize)
  }

  @Test("The buffer for large reads is lent to one connection at a time")
  func one() {
    var bulk = LargeReads()
    bulk.give(bulk.take(allocator))
    let (first, second) = (bulk.take(allocator), bulk.take(allocator))
    #expect(place(of: first) != place(of: second))
  }

  @Test("A buffer of another size is not kept")
  func otherSize() {
    var bulk = LargeReads()
    bulk.give(allocator.buffer(capacity: 1_024))
    #expect(bulk.take(allocator).storageCapacity == LargeReads.readSize)
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

  private func place(of buffer: ByteBuffer) -> UnsafeRawPointer? {
    buffer.withVeryUnsafeBytes { $0.baseAddress }
  }
}
