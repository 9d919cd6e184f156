import NIOCore
import Testing

@testable import HTTPWire

@Suite("The content of an HTTP/2 stream that waits to be sent")
struct ContentQueueTests {
  private var queue = ContentQueue()

  /// A buffer of 16 KiB that was read into, and what it holds after a head.
  private func read(_ count: Int) -> (whole: ByteBuffer, content: ByteBuffer) {
    var whole = ByteBufferAllocator().buffer(capacity: 16_384)
    whole.writeRepeatingByte(0x68, count: 100)
    whole.writeRepeatingByte(0x63, count: count)
    return (whole, whole.getSlice(at: 100, length: count)!)
  }

  @Test("Content that leaves at once is not copied", arguments: [1, 1_000, 12_000])
  mutating func atOnce(count: Int) {
    var (whole, content) = read(count)
    queue.append(content)
    content = ByteBuffer()
    #expect(whole.modifyIfUniquelyOwned { $0.clear() } == nil)
    #expect(queue.take(count) == ByteBuffer(repeating: 0x63, count: count))
    #expect(whole.modifyIfUniquelyOwned { $0.clear() } != nil)
  }

  @Test("A little out of a large buffer leaves the buffer free once it is detached", arguments: [1, 1_000, 8_000])
  mutating func little(count: Int) {
    var (whole, content) = read(count)
    queue.append(content)
    content = ByteBuffer()
    queue.detach()
    #expect(whole.modifyIfUniquelyOwned { $0.clear() } != nil)
    #expect(queue.take(count) == ByteBuffer(repeating: 0x63, count: count))
  }

  @Test("Much of a buffer is not copied when it is detached")
  mutating func much() {
    var (whole, content) = read(12_000)
    queue.append(content)
    content = ByteBuffer()
    queue.detach()
    #expect(whole.modifyIfUniquelyOwned { $0.clear() } == nil)
    #expect(queue.take(12_000) == ByteBuffer(repeating: 0x63, count: 12_000))
  }

  @Test("Pieces of one buffer are copied one after the other, and the buffer is as it was")
  mutating func pieces() {
    let whole = ByteBuffer(string: "first, second; rest")
    queue.append(whole.getSlice(at: 0, length: 5)!)
    queue.append(whole.getSlice(at: 7, length: 6)!)
    queue.detach()
    #expect(queue.take(11) == ByteBuffer(string: "firstsecond"))
    #expect(whole == ByteBuffer(string: "first, second; rest"))
  }

  @Test("More is taken behind what waits, in portions of any size")
  mutating func order() {
    for byte in 0..<100 as Range<UInt8> {
      queue.append(ByteBuffer(repeating: byte, count: 50))
      queue.detach()
    }
    #expect(queue.count == 5_000)
    var taken = ByteBuffer()
    for count in [1, 49, 4_000, 950] { taken.writeImmutableBuffer(queue.take(count)!) }
    #expect(queue.count == 0)
    #expect(Array(taken.readableBytesView) == (0..<100 as Range<UInt8>).flatMap { Array(repeating: $0, count: 50) })
  }
}
