internal import NIOCore

/// Room for one head, taken from a buffer at once: what is appended is compared with the room and copied, nothing else.
///
/// Bytes that do not fit are counted and not written. The owner of the buffer sees the count, and writes the head
/// again.
struct HeaderWriter {
  private let bytes: UnsafeMutableRawBufferPointer
  /// Bytes appended so far; more than there is room for where the head did not fit.
  private(set) var count = 0

  /// - Parameter bytes: not to be used by anybody else meanwhile.
  fileprivate init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  fileprivate var isWhole: Bool { count <= bytes.count }

  @inline(__always)
  mutating func append(_ source: RawSpan) { source.withUnsafeBytes { append($0) } }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  private mutating func append(_ source: UnsafeRawBufferPointer) {
    let end = count + source.count
    if end <= bytes.count, let start = bytes.baseAddress, let from = source.baseAddress {
      start.advanced(by: count).copyMemory(from: from, byteCount: source.count)
    }
    count = end
  }

  /// Takes back everything after the first `count` bytes.
  mutating func truncate(to count: Int) { self.count = count }

  /// Takes separators of a list back, down to `start`.
  mutating func dropSeparators(downTo start: Int) {
    // Bytes that did not fit cannot be read; counting too many only makes the next buffer larger.
    guard isWhole else { return }
    while count > start, bytes[count - 1] == 0x3B || bytes[count - 1] == 0x20 { count -= 1 }
  }
}

extension ByteBuffer {
  /// Writes a head of about `size` bytes. Where that was too little, `write` is called a second time.
  @inline(__always)
  mutating func writeHead(expecting size: Int, _ write: (inout HeaderWriter) -> Void) {
    var size = size
    while true {
      let written = writeWithUnsafeMutableBytes(minimumWritableBytes: size) { room in
        var writer = HeaderWriter(room)
        write(&writer)
        size = writer.count
        return writer.isWhole ? writer.count : 0
      }
      if written == size { return }
    }
  }
}
