package import NIOCore

/// Content of one stream that waits to be sent.
///
/// Appended content is not copied: it may be a part of the buffer that it was read into, which its connection cannot
/// read into again meanwhile. ``detach()`` ends that, for content that does not leave at once.
struct ContentQueue {
  private var buffer: ByteBuffer?
  /// Whether `buffer` may be a part of somebody else's.
  private var isLent = false

  /// Bytes that wait.
  var count: Int { buffer?.readableBytes ?? 0 }

  mutating func append(_ content: consuming ByteBuffer) {
    if buffer != nil {
      // Writing to a shared buffer copies it.
      buffer?.writeBuffer(&content)
      isLent = false
    } else {
      buffer = content
      isLent = true
    }
  }

  /// Copies content that fills less than half of the buffer that it is in.
  mutating func detach() {
    guard isLent, let content = buffer else { return }
    isLent = false
    buffer = content.detached()
  }

  /// Takes so many bytes, nil where there are fewer.
  mutating func take(_ byteCount: Int) -> ByteBuffer? {
    guard count == byteCount else { return buffer?.readSlice(length: byteCount) }
    var all: ByteBuffer?
    swap(&all, &buffer)
    return all
  }

  mutating func removeAll() { buffer = nil }
}

extension ByteBuffer {
  /// A copy of what fills less than half of the buffer that it is in, to be kept: allocating another buffer to read
  /// into would cost more, and a few bytes would hold much memory.
  package func detached() -> ByteBuffer {
    readableBytes <= storageCapacity / 2 ? ByteBuffer(buffer: self) : self
  }
}
