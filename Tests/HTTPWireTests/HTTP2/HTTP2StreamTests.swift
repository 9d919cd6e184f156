import NIOCore
import Testing

@testable import HTTPWire

@Suite("The queue of an HTTP/2 stream")
struct HTTP2StreamTests {
  private let stream = HTTP2Stream(id: 1)

  /// A buffer of 16 KiB that was read into, and what it holds behind a head.
  private func read(_ count: Int) -> (whole: ByteBuffer, content: ByteBuffer) {
    var whole = ByteBufferAllocator().buffer(capacity: 16_384)
    whole.writeRepeatingByte(0x68, count: 100)
    whole.writeRepeatingByte(0x63, count: count)
    return (whole, whole.getSlice(at: 100, length: count)!)
  }

  @Test("A little out of a large buffer leaves the buffer free", arguments: [1, 1_000, 8_000])
  func little(count: Int) {
    var (whole, content) = read(count)
    stream.enqueue(content)
    content = ByteBuffer()
    #expect(whole.modifyIfUniquelyOwned { $0.clear() } != nil)
    #expect(stream.takeQueue(count) == ByteBuffer(repeating: 0x63, count: count))
  }

  @Test("Much of a buffer is not copied")
  func much() {
    var (whole, content) = read(12_000)
    stream.enqueue(content)
    content = ByteBuffer()
    #expect(whole.modifyIfUniquelyOwned { $0.clear() } == nil)
    #expect(stream.takeQueue(12_000) == ByteBuffer(repeating: 0x63, count: 12_000))
  }

  @Test("More is taken behind what waits, in portions of any size")
  func order() {
    for byte in 0..<100 as Range<UInt8> { stream.enqueue(ByteBuffer(repeating: byte, count: 50)) }
    #expect(stream.queuedBytes == 5_000)
    var taken = ByteBuffer()
    for count in [1, 49, 4_000, 950] { taken.writeImmutableBuffer(stream.takeQueue(count)!) }
    #expect(stream.queuedBytes == 0)
    #expect(Array(taken.readableBytesView) == (0..<100 as Range<UInt8>).flatMap { Array(repeating: $0, count: 50) })
  }
}
