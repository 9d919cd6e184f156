internal import WebFormats

/// A segment in which ASP.NET keeps identifiers in place of cookies: `/(S(lit3py55t21z5v55vlm25s55))/`.
///
///     cookieless-segment = "(" 1*( ALPHA "(" *( any byte but ")" and separators ) ")" ) ")"
///
/// The .NET Framework removes it from the path of every application, whatever is configured, together with the
/// separator before it. Without the fixes for CVE-2023-36560 and CVE-2023-36899 it does so also where the segment goes
/// on behind it: `/prot/(S(x))ected` is `/protected`. It decodes the path before that.
struct CookielessSegment {
  /// The separator before it, raw or encoded.
  let separator: Range<Int>
  /// The place behind its last parenthesis.
  let end: Int

  /// - Parameter start: the place of its first byte, which is decoded. Fails if no such segment begins there.
  /// - Complexity: O(*n*) in the distance to the next separator.
  init?(in path: Span<UInt8>, at start: Int) {
    guard let separator = Self.separator(before: start, in: path), let end = Self.end(in: path, from: start) else {
      return nil
    }
    (self.separator, self.end) = (separator, end)
  }

  /// Whether the segment of the path ends with it.
  func isWhole(in path: Span<UInt8>) -> Bool {
    guard end < path.count, let (byte, _) = PathByte.decoded(path, at: end) else { return true }
    return Self.isSeparator(byte)
  }

  /// The parts of the form, by what may come next.
  private enum Part { case start, firstName, open, value, nextName }

  private static func end(in path: Span<UInt8>, from start: Int) -> Int? {
    var part = Part.start
    var index = start
    while index < path.count, let (byte, next) = PathByte.decoded(path, at: index) {
      switch part {
      case .start where byte == UInt8(ascii: "("): part = .firstName
      case .firstName where byte.isASCIILetter, .nextName where byte.isASCIILetter: part = .open
      case .open where byte == UInt8(ascii: "("): part = .value
      case .value where byte == UInt8(ascii: ")"): part = .nextName
      case .value where !isSeparator(byte): break
      case .nextName where byte == UInt8(ascii: ")"): return next
      default: return nil
      }
      index = next
    }
    return nil
  }

  private static func separator(before start: Int, in path: Span<UInt8>) -> Range<Int>? {
    if start > 0, path[start - 1] == UInt8(ascii: "/") { return start - 1..<start }
    guard start > 3, let (byte, next) = PathByte.decoded(path, at: start - 3), next == start, isSeparator(byte) else {
      return nil
    }
    return start - 3..<start
  }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
}
