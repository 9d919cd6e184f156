import NIOCore
import Testing

@testable import SocketTransport

@Suite("The receive buffers of a loop")
struct ReceiveBuffersTests {
  private static let modes: [ReceiveBufferMode] = [.frugal, .usual, .wide, .bulk]

  private func place(of buffer: ByteBuffer) -> UnsafeRawPointer? { buffer.withVeryUnsafeBytes { $0.baseAddress } }

  @Test("A buffer that is no longer held is read into again", arguments: modes)
  func again(mode: ReceiveBufferMode) {
    var buffers = ReceiveBuffers()
    var first = buffers.take(mode)
    first.writeRepeatingByte(1, count: 1_000)
    let place = place(of: first)
    buffers.give(first, mode)
    first = ByteBuffer()
    let second = buffers.take(mode)
    #expect(self.place(of: second) == place)
    #expect(second.readableBytes == 0 && second.writableBytes == mode.size)
  }

  @Test("A buffer that is held stays as it is, and the next read takes new memory", arguments: modes)
  func held(mode: ReceiveBufferMode) {
    var buffers = ReceiveBuffers()
    var first = buffers.take(mode)
    first.writeRepeatingByte(1, count: 1_000)
    let held = first.getSlice(at: 500, length: 10)
    buffers.give(first, mode)
    first = ByteBuffer()
    var second = buffers.take(mode)
    second.writeRepeatingByte(2, count: 1_000)
    #expect(held.map { Array($0.readableBytesView) } == Array(repeating: 1, count: 10))
    #expect(second.storageCapacity == mode.size)
  }

  @Test("A buffer is lent to one reader at a time", arguments: modes)
  func one(mode: ReceiveBufferMode) {
    var buffers = ReceiveBuffers()
    buffers.give(buffers.take(mode), mode)
    let (first, second) = (buffers.take(mode), buffers.take(mode))
    #expect(place(of: first) != place(of: second))
  }

  @Test("A buffer of another size is not kept, and each mode has its own")
  func otherSize() {
    var buffers = ReceiveBuffers()
    buffers.give(ByteBufferAllocator().buffer(capacity: 1_024), .bulk)
    #expect(buffers.take(.bulk).storageCapacity == ReceiveBufferMode.bulk.size)
    buffers.give(buffers.take(.frugal), .frugal)
    #expect(buffers.take(.usual).storageCapacity == ReceiveBufferMode.usual.size)
  }
}
