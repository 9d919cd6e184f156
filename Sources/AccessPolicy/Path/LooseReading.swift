internal import WebFormats

/// A position in a path that is read the way lenient servers do: decoded once, folded to lower case, compatibility
/// letters and those that only differ in case as the ASCII they stand for, `+` as a space, empty segments collapsed,
/// and without what servers drop at the end of a segment (path parameters, NTFS streams such as `:$DATA`, trailing dots
/// and spaces). It reads from left to right without allocation.
struct LooseReading {
  private var index = 0
  /// Bytes of the character before `index` that were not read yet, the next one lowest; 0 if there are none.
  private var pending: UInt32 = 0

  init() {}

  /// Takes the next byte; nil at the end, and at a malformed escape.
  @inline(__always)
  mutating func next(in path: Span<UInt8>) -> UInt8? {
    if pending != 0 { return takePending() }
    guard index < path.count, let (byte, next) = PathByte.decoded(path, at: index) else { return nil }
    if byte >= 0xC2, let (scalar, end) = PathByte.scalar(path, at: index) {
      pending = CompatibilityLetters.ascii(of: scalar)
      if pending == 0 { pending = FoldedLetters.ascii(of: scalar) }
      if pending == 0 { pending = FoldedLetters.utf8(of: scalar) }
      index = end
      return takePending()
    }
    index = next
    return Self.folded(byte)
  }

  /// The byte in lower case, and a space for `+`, as routers read it that decode paths as forms.
  @inline(__always)
  private static func folded(_ byte: UInt8) -> UInt8 {
    byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte.asciiLowercased
  }

  /// Whether the next byte is not UTF-8: one that servers drop, replace or take for any letter.
  func isAtLegacyByte(of path: Span<UInt8>) -> Bool {
    guard pending == 0, index < path.count, let (byte, _) = PathByte.decoded(path, at: index) else { return false }
    return byte >= 0x80 && PathByte.scalar(path, at: index) == nil
  }

  private mutating func takePending() -> UInt8 {
    let byte = UInt8(truncatingIfNeeded: pending)
    pending >>= 8
    return Self.folded(byte)
  }

  /// The end of the segment, if only parts that servers drop are left of it. A byte that is not UTF-8 may be replaced
  /// by `?`, which ends it.
  func segmentEnd(in path: Span<UInt8>) -> LooseReading? {
    var position = self
    var dropsRest = false
    while true {
      let here = position
      if !dropsRest, here.isAtLegacyByte(of: path) { return here }
      guard let byte = position.next(in: path) else { return here.isAtEnd(of: path) ? here : nil }
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"): return here
      case UInt8(ascii: ";"), UInt8(ascii: ":"): dropsRest = true
      case UInt8(ascii: "."), UInt8(ascii: " "): break
      default: if !dropsRest { return nil }
      }
    }
  }

  /// The position after one or more separators, and after the empty segments between them; nil if there is none.
  /// To be asked at the end of a segment.
  func behindSeparators(in path: Span<UInt8>) -> LooseReading? {
    var end = self
    var result: LooseReading?
    while true {
      var position = end
      guard let byte = position.next(in: path), byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") else {
        return result
      }
      result = position
      guard let next = position.segmentEnd(in: path) else { return result }
      end = next
    }
  }

  /// Whether nothing follows, or only what a server may take for a query or a fragment.
  func isAtPathEnd(in path: Span<UInt8>) -> Bool {
    var position = self
    if isAtLegacyByte(of: path) { return true }
    guard let byte = position.next(in: path) else { return isAtEnd(of: path) }
    return byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  private func isAtEnd(of path: Span<UInt8>) -> Bool { pending == 0 && index >= path.count }
}
