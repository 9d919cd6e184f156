import NIOCore

/// How the buffers of one flush become calls of OpenSSL: small neighbours (a response's head and the beginning of its
/// body) are copied together, since each record costs about as much as copying some kilobytes; large ones are not copied.
struct RecordPlan {
  /// Bytes of all buffers.
  let totalBytes: Int

  private let buffers: [ByteBuffer]
  private var position = 0
  /// What is left of the buffer before `position` that is taken in several pieces.
  private var rest = ByteBuffer()
  private let allocator: ByteBufferAllocator

  init(buffers: [ByteBuffer], allocator: ByteBufferAllocator) {
    self.buffers = buffers
    self.allocator = allocator
    self.totalBytes = buffers.reduce(0) { $0 + $1.readableBytes }
  }

  /// The next piece to encrypt, at most ``TLSConnection/callLimit`` bytes and never empty; nil at the end.
  mutating func next() -> ByteBuffer? {
    if let piece = self.rest.readSlice(length: min(self.rest.readableBytes, TLSConnection.callLimit)),
      piece.readableBytes > 0
    {
      return piece
    }
    guard let first = self.nextBuffer() else { return nil }
    guard first.readableBytes <= Self.smallBytes, let second = self.peekBuffer(), second <= Self.smallBytes else {
      self.rest = first
      return self.rest.readSlice(length: min(first.readableBytes, TLSConnection.callLimit))
    }
    var gathered = self.allocator.buffer(capacity: min(self.totalBytes, TLSConnection.recordPlaintext))
    gathered.writeImmutableBuffer(first)
    while let size = self.peekBuffer(), size <= Self.smallBytes,
      gathered.readableBytes + size <= TLSConnection.recordPlaintext, let buffer = self.nextBuffer()
    {
      gathered.writeImmutableBuffer(buffer)
    }
    return gathered
  }

  private mutating func nextBuffer() -> ByteBuffer? {
    guard self.peekBuffer() != nil else { return nil }
    defer { self.position += 1 }
    return self.buffers[self.position]
  }

  /// The size of the next buffer that is not empty.
  private mutating func peekBuffer() -> Int? {
    while self.position < self.buffers.count {
      let size = self.buffers[self.position].readableBytes
      if size > 0 { return size }
      self.position += 1
    }
    return nil
  }

  /// Up to this size, in bytes, a buffer is copied together with its neighbours.
  private static let smallBytes = 8_192
}
