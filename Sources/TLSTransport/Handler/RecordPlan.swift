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
    bytesLeft = buffers.reduce(0) { $0 + $1.readableBytes }
  }

  /// The next piece to encrypt, never empty; nil at the end.
  ///
  /// - Parameter limit: the most bytes to take, at least those of a full record.
  mutating func next(limit: Int) -> ByteBuffer? {
    let piece = nextPiece(limit: limit)
    bytesLeft -= piece?.readableBytes ?? 0
    return piece
  }

  private mutating func nextPiece(limit: Int) -> ByteBuffer? {
    if let piece = takeRest(limit: limit) { return piece }
    guard let first = nextBuffer() else { return nil }
    guard first.readableBytes <= Self.smallBytes, let second = peekBuffer(), second <= Self.smallBytes else {
      rest = first
      return takeRest(limit: limit)
    }
    var gathered = allocator.buffer(capacity: min(bytesLeft, TLSConnection.recordPlaintext))
    gathered.writeImmutableBuffer(first)
    while let size = peekBuffer(), size <= Self.smallBytes,
      gathered.readableBytes + size <= TLSConnection.recordPlaintext, let buffer = nextBuffer()
    {
      gathered.writeImmutableBuffer(buffer)
    }
    return gathered
  }

  private mutating func takeRest(limit: Int) -> ByteBuffer? {
    guard rest.readableBytes > 0 else { return nil }
    return rest.readSlice(length: min(rest.readableBytes, limit))
  }

  private mutating func nextBuffer() -> ByteBuffer? {
    guard peekBuffer() != nil else { return nil }
    defer { position += 1 }
    return buffers[position]
  }

  /// The size of the next buffer that is not empty.
  private mutating func peekBuffer() -> Int? {
    while position < buffers.count {
      let size = buffers[position].readableBytes
      if size > 0 { return size }
      position += 1
    }
    return nil
  }

  /// Up to this size, in bytes, a buffer is copied together with its neighbours.
  private static let smallBytes = 8_192
}
