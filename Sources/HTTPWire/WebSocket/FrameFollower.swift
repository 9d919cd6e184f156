/// Follows the frames of one direction of a WebSocket (RFC 6455, 5.2), to find the boundaries between them. It reads
/// opcodes and lengths, not the payload.
///
///     frame = FIN RSV1-3 opcode(4) | MASK length(7) | length(16 or 64), if 126 or 127 | mask(32), if MASK | payload
package struct FrameFollower {
  /// Bytes of payload that the frame under way still has.
  private var payload: UInt64 = 0
  /// Bytes of its header that have been seen, and how many it has.
  private var headerSeen = 0
  private var headerLength = 2
  private var lengthBytes = 0
  private var length: UInt64 = 0
  private var opcode: UInt8 = 0
  private var hasDataFrames = false
  /// Whether a Close frame has gone by: nothing may follow it (5.5.1).
  package private(set) var hasClosed = false
  /// Whether a length was seen that no frame has (5.2: the most significant bit of 64 must be 0). Nothing is known from
  /// then on.
  package private(set) var isLost = false

  /// Begins before the first frame of a direction, after the handshake.
  package init() {}

  /// Whether the bytes so far end where a frame ends, so that a frame of another sender may follow: a control frame
  /// even in the middle of a fragmented message (5.4).
  package var isAtBoundary: Bool { payload == 0 && headerSeen == 0 && !isLost }

  /// Follows all of the bytes.
  package mutating func follow(_ bytes: RawSpan) { _ = follow(bytes, toBoundary: false) }

  /// Follows the bytes up to the next boundary.
  /// - Returns: the number of bytes before it; nil if it is not among them.
  package mutating func followToBoundary(_ bytes: RawSpan) -> Int? { follow(bytes, toBoundary: true) }

  private mutating func follow(_ bytes: RawSpan, toBoundary: Bool) -> Int? {
    var at = 0
    while at < bytes.byteCount, !isLost {
      if payload > 0 {
        let count = min(payload, UInt64(bytes.byteCount - at))
        payload -= count
        at += Int(count)
        if !isControl { hasDataFrames = true }
      } else {
        header(bytes.unsafeLoad(fromUncheckedByteOffset: at, as: UInt8.self))
        at += 1
      }
      if toBoundary, isAtBoundary { return at }
    }
    return nil
  }

  /// Whether the frame under way is a Close, Ping or Pong, or another control frame (5.5).
  private var isControl: Bool { opcode & 0x8 != 0 }

  /// Whether any part of a data frame has gone by since this was last asked.
  package mutating func takeDataFrames() -> Bool {
    defer { hasDataFrames = false }
    return hasDataFrames
  }

  private mutating func header(_ byte: UInt8) {
    switch headerSeen {
    case 0:
      opcode = byte & 0x0F
      if !isControl { hasDataFrames = true }
    case 1:
      let short = byte & 0x7F
      lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
      length = lengthBytes == 0 ? UInt64(short) : 0
      headerLength = 2 + lengthBytes + (byte & 0x80 == 0 ? 0 : 4)
    case ..<(2 + lengthBytes): length = length << 8 | UInt64(byte)
    default: break
    }
    headerSeen += 1
    guard headerSeen == headerLength else { return }
    isLost = length >> 63 != 0
    payload = length
    hasClosed = hasClosed || opcode == 0x8
    headerSeen = 0
    headerLength = 2
    lengthBytes = 0
  }
}
