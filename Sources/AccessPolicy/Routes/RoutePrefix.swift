/// One route's prefix, as it stands in ``RouteTable``'s two byte buffers.
struct RoutePrefix: Sendable {
  /// The prefix byte for byte.
  var exact: Range<Int>
  /// The prefix decoded once and folded to lower case, without a trailing slash.
  var loose: Range<Int>
  /// What it decides.
  var decision: RouteDecision

  /// Whether the path lies under the prefix, byte for byte: it begins with it, and the prefix ends there with a slash
  /// or the path has a slash, or its end, next.
  @inline(__always)
  func contains(_ path: Span<UInt8>, in bytes: Span<UInt8>) -> Bool {
    guard path.count >= exact.count else { return false }
    var index = 0
    while index < exact.count {
      if path[index] != bytes[exact.lowerBound + index] { return false }
      index += 1
    }
    return path.count == exact.count || bytes[exact.upperBound - 1] == UInt8(ascii: "/")
      || path[index] == UInt8(ascii: "/")
  }

  /// Whether a server that decodes, folds case, collapses slashes, and drops path parameters, NTFS streams
  /// (`:$DATA`) and trailing dots and spaces may see the path under this prefix, or at it without its trailing slash.
  func mayContain(_ path: Span<UInt8>, in bytes: Span<UInt8>) -> Bool {
    var reading = LooseReading()
    var index = loose.lowerBound
    while index < loose.upperBound {
      let expected = bytes[index]
      if expected == UInt8(ascii: "/") {
        guard reading.takeSeparator(in: path) else { return false }
      } else {
        guard reading.take(expected, in: path) else { return false }
      }
      index += 1
    }
    return reading.isAtSegmentEnd(in: path)
  }
}

/// A path read the way lenient servers do, from the left, without building anything.
private struct LooseReading {
  private var index = 0

  /// Takes one byte, decoded and in lower case, if it is the expected one.
  mutating func take(_ expected: UInt8, in path: Span<UInt8>) -> Bool {
    guard index < path.count, let (byte, next) = PathByte.decoded(path, at: index),
      PathByte.folded(byte) == expected
    else { return false }
    index = next
    return true
  }

  /// Takes what ends a segment: its suffix, then one or more separators, with the empty segments between them.
  mutating func takeSeparator(in path: Span<UInt8>) -> Bool {
    var taken = false
    while true {
      let end = segmentEnd(of: path, from: index)
      guard end < path.count, let (byte, next) = PathByte.decoded(path, at: end), Self.isSeparator(byte) else { break }
      index = next
      taken = true
    }
    return taken
  }

  func isAtSegmentEnd(in path: Span<UInt8>) -> Bool {
    let end = segmentEnd(of: path, from: index)
    guard end < path.count, let (byte, _) = PathByte.decoded(path, at: end) else { return end >= path.count }
    return Self.isSeparator(byte) || Self.isDelimiter(byte)
  }

  /// Where the segment ends if nothing is left of it but what servers drop; otherwise `start`.
  private func segmentEnd(of path: Span<UInt8>, from start: Int) -> Int {
    var position = start
    var dropsRest = false
    while position < path.count, let (byte, next) = PathByte.decoded(path, at: position) {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"): return position
      case UInt8(ascii: ";"), UInt8(ascii: ":"): dropsRest = true
      case UInt8(ascii: "."), UInt8(ascii: " "): break
      default: if !dropsRest { return start }
      }
      position = next
    }
    return position
  }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
  private static func isDelimiter(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
}
