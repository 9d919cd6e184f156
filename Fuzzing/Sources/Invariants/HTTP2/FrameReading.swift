/// Frames taken apart by whole passes (RFC 9113, 4.1), and what can be said of them without a state: the second opinion
/// on what belongs to which stream.
struct FrameReading {
  struct Frame {
    var type: UInt8
    var flags: UInt8
    var stream: UInt32
    /// The length in its header; the last frame may be shorter.
    var length: Int
    var payload: [UInt8]

    static let (data, headers): (UInt8, UInt8) = (0, 1)
    static let (endStream, endHeaders, padded, prioritized): (UInt8, UInt8, UInt8, UInt8) = (0x1, 0x4, 0x8, 0x20)

    /// The content of a DATA frame, without its padding, as far as it has come; nil where there is more padding than
    /// frame.
    var content: [UInt8]? {
      guard flags & Self.padded != 0 else { return payload }
      guard let padding = payload.first, Int(padding) < length else { return nil }
      return Array(payload.prefix(length - Int(padding)).dropFirst())
    }
  }

  /// The frames, the last of which may be cut off: content is handed on as it comes.
  static func frames(_ bytes: [UInt8]) -> [Frame] {
    var frames: [Frame] = []
    var rest = bytes[...]
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      let stream =
        (UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])) & 0x7FFF_FFFF
      frames.append(
        Frame(
          type: head[3], flags: head[4], stream: stream, length: length,
          payload: Array(rest.dropFirst(9).prefix(length))))
      rest = rest.dropFirst(9 + length)
    }
    return frames
  }

  /// Whether `part`, which is not empty, occurs in `bytes`. Written by hand, because the standard library's search took
  /// most of a run.
  static func finds(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
    var start = 0
    while start + part.count <= bytes.count {
      var count = 0
      while count < part.count, bytes[start + count] == part[count] { count += 1 }
      if count == part.count { return true }
      start += 1
    }
    return false
  }

  /// The fields of a block of literals without indexing and without Huffman codes (RFC 7541, 6.2.2); nil for any other
  /// block.
  static func literals(_ block: [UInt8]) -> [(name: [UInt8], value: [UInt8])]? {
    var fields: [(name: [UInt8], value: [UInt8])] = []
    var rest = block[...]
    func text() -> [UInt8]? {
      guard let count = rest.popFirst(), count < 127, Int(count) <= rest.count else { return nil }
      defer { rest = rest.dropFirst(Int(count)) }
      return Array(rest.prefix(Int(count)))
    }
    while let first = rest.popFirst() {
      guard first == 0, let name = text(), let value = text() else { return nil }
      fields.append((name, value))
    }
    return fields
  }
}
