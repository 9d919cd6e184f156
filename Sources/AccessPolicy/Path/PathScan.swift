internal import WebFormats

/// The state of one pass over a path.
struct PathScan {
  /// The strongest ambiguity so far.
  private(set) var ambiguity: PathAmbiguity?
  /// Bytes of the segment so far, parameters aside; saturating is not needed, a path is shorter than an `Int`.
  private var length = 0
  /// The number of those bytes that are dots after decoding; `spaces` is the number of spaces.
  private var dots = 0
  private var spaces = 0
  /// Whether a `;` was met in this segment.
  private var inParameter = false
  /// The length of the escape that the *decoded* bytes form: 1 after `%`, 2 after `%` and a hexadecimal digit.
  private var nestedEscape = 0

  /// Takes a byte without a special meaning.
  @inline(__always)
  mutating func plain(_ byte: UInt8) {
    length += 1
    if nestedEscape != 0 { followNestedEscape(byte) }
  }

  /// Takes any other byte, or the escape or UTF-8 sequence that begins with it, and moves `index` past it.
  mutating func special(_ byte: UInt8, in path: Span<UInt8>, at index: inout Int) -> PathRefusal? {
    switch byte {
    case UInt8(ascii: "/"):
      if path[index - 1] == UInt8(ascii: "/") { note(index == 1 ? .leadingDoubleSlash : .emptySegment) }
      index += 1
      return endSegment()
    case UInt8(ascii: "."):
      index += 1
      return take(byte)
    case UInt8(ascii: ";"):
      index += 1
      return beginParameter()
    case UInt8(ascii: "%"):
      return escape(in: path, at: &index)
    case UInt8(ascii: "\\"): return .backslash
    case UInt8(ascii: "?"), UInt8(ascii: "#"): return .delimiter
    case 0x80...:
      note(.rawNonASCII)
      nonASCII(in: path, at: &index)
      return nil
    default: return .controlByte
    }
  }

  /// Closes a segment at a separator or at the end.
  mutating func endSegment() -> PathRefusal? {
    defer {
      (length, dots, spaces, inParameter, nestedEscape) = (0, 0, 0, false, 0)
    }
    return classifyDots()
  }

  private mutating func escape(in path: Span<UInt8>, at index: inout Int) -> PathRefusal? {
    guard let (byte, next) = PathByte.decoded(path, at: index) else { return .malformedEncoding }
    switch byte {
    case 0x00...0x1F, 0x7F: return .encodedControlByte
    case 0x80...:
      nonASCII(in: path, at: &index)
      return nil
    default: break
    }
    index = next
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "\\"):
      note(.encodedSeparator)
      return endSegment()
    case UInt8(ascii: "?"), UInt8(ascii: "#"):
      note(.encodedDelimiter)
      return endSegment()
    case UInt8(ascii: ";"):
      return beginParameter()
    case UInt8(ascii: "%"):
      length += 1
      nestedEscape = 1
      return nil
    default:
      if byte.isUnreserved { note(.encodedUnreserved) }
      return take(byte)
    }
  }

  /// Takes a decoded byte that may be a dot or a space.
  private mutating func take(_ byte: UInt8) -> PathRefusal? {
    length += 1
    if !inParameter {
      if byte == UInt8(ascii: ".") { dots += 1 }
      if byte == UInt8(ascii: " ") { spaces += 1 }
    }
    if nestedEscape != 0 { followNestedEscape(byte) }
    return nil
  }

  private mutating func beginParameter() -> PathRefusal? {
    note(.parameter)
    nestedEscape = 0
    if !inParameter, let refusal = classifyDots() { return refusal }
    inParameter = true
    length += 1
    return nil
  }

  /// Classifies a segment of dots (and spaces) only. A parameter's bytes count into `length`, so that this happens
  /// once.
  private mutating func classifyDots() -> PathRefusal? {
    guard dots > 0, dots + spaces == length else { return nil }
    if spaces == 0, dots <= 2 { return .dotSegment }
    note(.dots)
    return nil
  }

  private mutating func followNestedEscape(_ byte: UInt8) {
    if nestedEscape == 1, byte | 0x20 == UInt8(ascii: "u") {
      note(.doubleEncoding)
      nestedEscape = 0
    } else if Hex.value(of: byte) == nil {
      nestedEscape = 0
    } else if nestedEscape == 2 {
      note(.doubleEncoding)
      nestedEscape = 0
    } else {
      nestedEscape = 2
    }
  }

  /// Reads one UTF-8 sequence whose bytes are raw, percent-encoded or both, and moves `index` past it, or past its
  /// first byte if it is malformed.
  private mutating func nonASCII(in path: Span<UInt8>, at index: inout Int) {
    length += 1
    guard let (scalar, end) = PathByte.scalar(path, at: index) else {
      nestedEscape = 0
      index = PathByte.decoded(path, at: index)?.next ?? index + 1
      return note(.malformedUTF8)
    }
    index = end
    if Self.isConfusable(scalar) { note(.confusable) }
    var letters = CompatibilityLetters.ascii(of: scalar)
    if letters == 0 { nestedEscape = 0 }
    while letters != 0 {
      takeCompatible(UInt8(truncatingIfNeeded: letters))
      letters >>= 8
    }
  }

  /// Takes an ASCII byte that only a server that normalizes characters would read. If it ended a segment of dots, the
  /// character is a confusable; other signs, which are common in Chinese and Japanese titles, only have a lenient
  /// reading.
  private mutating func takeCompatible(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"): note(.confusable)
    case UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"):
      if dots > 0, dots + spaces == length - 1 { note(.confusable) }
    case UInt8(ascii: " "): if !inParameter { spaces += 1 }
    default: if byte.isUnreserved { note(.compatibilityLetter) }
    }
    if nestedEscape != 0 { followNestedEscape(byte) }
  }

  /// Fraction slash, division slash, set minus, reverse solidus operator, big solidus, big reverse solidus: best-fit
  /// code pages turn them into a separator, and normalization leaves them as they are.
  private static func isConfusable(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x2044, 0x2215, 0x2216, 0x29F5, 0x29F8, 0x29F9: true
    default: false
    }
  }

  private mutating func note(_ found: PathAmbiguity) {
    if ambiguity.map({ $0 < found }) ?? true { ambiguity = found }
  }
}
