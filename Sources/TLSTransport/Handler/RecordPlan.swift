import NIOCore

/// The grouping of the buffers of one flush into calls of OpenSSL: small neighbours (a response's head and the start of
/// its body) are copied together, since each record costs about as much as copying some kilobytes; large ones are not
/// copied.
struct RecordPlan {
  /// The number of remaining bytes.
  private(set) var bytesLeft: Int

  private let buffers: [ByteBuffer]
  private var position = 0
  /// The rest of the buffer before `position`, which is split into several pieces.
  private var rest = ByteBuffer()
  private let allocator: ByteBufferAllocator

  init(buffers: [ByteBuffer], allocator: ByteBufferAllocator) {
    self.buffers = buffers
    self.allocator = allocator
    self.bytesLeft = buffers.reduce(0) { $0 + $1.readableBytes }
  }

  /// The next piece to encrypt, never empty; nil at the end.
  ///
  /// - Parameter limit: The most bytes to take, at least those of a full record.
  mutating func next(limit: Int) -> ByteBuffer? {
    let piece = self.nextPiece(limit: limit)
    self.bytesLeft -= piece?.readableBytes ?? 0
    return piece
  }

  private mutating func nextPiece(limit: Int) -> ByteBuffer? {
    if let piece = self.takeRest(limit: limit) { return piece }
    guard let first = self.nextBuffer() else { return nil }
    guard first.readableBytes <= Self.smallBytes, let second = self.peekBuffer(), second <= Self.smallBytes else {
      self.rest = first
      return self.takeRest(limit: limit)
    }
    var gathered = self.allocator.buffer(capacity: min(self.bytesLeft, TLSConnection.recordPlaintext))
    gathered.writeImmutableBuffer(first)
    while let size = self.peekBuffer(), size <= Self.smallBytes,
      gathered.readableBytes + size <= TLSConnection.recordPlaintext, let buffer = self.nextBuffer()
    {
      gathered.writeImmutableBuffer(buffer)
    }
    return gathered
  }

  private mutating func takeRest(limit: Int) -> ByteBuffer? {
    guard self.rest.readableBytes > 0 else { return nil }
    return self.rest.readSlice(length: min(self.rest.readableBytes, limit))
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
