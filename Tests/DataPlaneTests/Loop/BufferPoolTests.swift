import NIOCore
import Testing

@testable import DataPlane

@Suite("Buffers of an event loop")
struct BufferPoolTests {
  @Test("No more buffers are lent than the pool keeps, and one that has come back is lent again")
  func lending() {
    var pool = BufferPool.frames
    var lent: [ByteBuffer] = []
    while lent.count < 1_000, let buffer = pool.lend() { lent.append(buffer) }
    #expect(lent.count == 16)
    // What is taken for one write is not counted.
    pool.give(pool.take())
    #expect(pool.lend() == nil)
    pool.give(lent.removeLast())
    #expect(pool.lend() == nil, "the loan has not ended")
    pool.endLoan()
    #expect(pool.lend() != nil)
    #expect(pool.lend() == nil)
  }

  @Test("A buffer that comes back is used again, and empty")
  func reuse() throws {
    var pool = BufferPool.frames
    let capacity = try write(30_000, in: &pool)
    let lent = pool.lend()
    let again = try #require(lent)
    #expect(again.readableBytes == 0)
    #expect(again.capacity == capacity)
  }

  /// Returns how large a buffer is that was lent, written to and given back.
  private func write(_ count: Int, in pool: inout BufferPool) throws -> Int {
    let lent = pool.lend()
    var buffer = try #require(lent)
    buffer.writeRepeatingByte(0x61, count: count)
    let capacity = buffer.capacity
    pool.endLoan()
    pool.give(buffer)
    return capacity
  }
}
