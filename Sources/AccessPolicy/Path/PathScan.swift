internal import WebFormats

/// The state of one pass over a path.
struct PathScan {
  /// The strongest ambiguity so far, aside from cookieless segments.
  private var strongest: PathAmbiguity?
  private var hasCookielessSegment = false
  /// Bytes of the segment so far, parameters aside; saturating is not needed, a path is shorter than an `Int`.
  private var length = 0
  /// The number of those bytes that are dots after decoding; `spaces` is the number of spaces, and of `+`, which
  /// routers that decode paths as forms read as a space.
  private var dots = 0
  private var spaces = 0
  /// The bytes among them that stand for characters beyond ASCII, other than dots and spaces.
  private var beyondASCII = 0
  /// Whether one of the dots is a character that only normalization turns into a dot.
  private var hasCompatibleDot = false
  /// Whether a parameter has begun in this segment.
  private var parameter = Parameter.none
  /// The bytes of older encodings in this segment. The counts above begin again behind each of them.
  private var legacy = LegacyBytes.none
  /// The end of the last character beyond ASCII.
  private var endOfNonASCII = 0
  /// The escape that the *decoded* bytes form.
  private var nestedEscape = NestedEscape.none

  private enum Parameter {
    /// No `;` so far.
    case none
    /// For some servers: a character that normalization turns into `;`.
    case possible
    /// For all servers: a `;`.
    case certain
  }

  private enum LegacyBytes {
    case none
    /// They stand beside nothing but dots and spaces.
    case only
    case amongOthers
  }

  private enum NestedEscape {
    case none
    /// `%` has come.
    /// - isPlain: whether it is written as `%25`.
    case sign(isPlain: Bool)
    /// `%` and a hexadecimal digit have come.
    /// - isPlain: whether they are written as `%25` and the raw digit.
    case digit(isPlain: Bool)

    @inline(__always)
    var hasBegun: Bool { if case .none = self { false } else { true } }
  }

  /// The strongest ambiguity so far.
  var ambiguity: PathAmbiguity? {
    guard hasCookielessSegment else { return strongest }
    guard let strongest else { return .cookieless }
    return max(strongest, .cookielessAmongOthers)
  }

  /// Takes a byte without a special meaning.
  @inline(__always)
  mutating func plain(_ byte: UInt8) {
    length += 1
    if nestedEscape.hasBegun { followNestedEscape(byte, isRaw: true) }
  }

  /// Takes any other byte, or the escape or UTF-8 sequence that begins with it, and moves `index` past it.
  mutating func special(_ byte: UInt8, in path: Span<UInt8>, at index: inout Int) -> PathRefusal? {
    switch byte {
    case UInt8(ascii: "/"):
      if path[index - 1] == UInt8(ascii: "/") { note(index == 1 ? .leadingDoubleSlash : .emptySegment) }
      index += 1
      return endSegment()
    case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "+"):
      index += 1
      return take(byte)
    case UInt8(ascii: "("):
      noteCookielessSegment(in: path, at: index)
      index += 1
      return take(byte)
    case UInt8(ascii: ";"):
      index += 1
      return beginParameter(isFirst: index == 2)
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
      (length, dots, spaces, nestedEscape) = (0, 0, 0, .none)
      (hasCompatibleDot, parameter, legacy, beyondASCII) = (false, .none, .none, 0)
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
    case UInt8(ascii: "("): noteCookielessSegment(in: path, at: index)
    default: break
    }
    index = next
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "\\"):
      // An escape is three bytes long.
      note(index == 4 ? .leadingDoubleSlash : parameter != .none ? .hidingParameter : .encodedSeparator)
      return endSegment()
    case UInt8(ascii: "?"), UInt8(ascii: "#"):
      note(parameter != .none ? .hidingParameter : .encodedDelimiter)
      return endSegment()
    case UInt8(ascii: ";"):
      return beginParameter(isFirst: index == 4)
    case UInt8(ascii: "%"):
      length += 1
      nestedEscape = .sign(isPlain: true)
      return nil
    default:
      if byte.isUnreserved { note(.encodedUnreserved) }
      return take(byte)
    }
  }

  private mutating func noteCookielessSegment(in path: Span<UInt8>, at index: Int) {
    if CookielessSegment(in: path, at: index) != nil { hasCookielessSegment = true }
  }

  /// Takes a decoded byte that may be a dot, a space, a `+`, or the `:` before an NTFS stream, which servers drop.
  private mutating func take(_ byte: UInt8) -> PathRefusal? {
    if byte == UInt8(ascii: ":"), isOfDots { note(.dots) }
    length += 1
    if parameter != .certain {
      if byte == UInt8(ascii: ".") { dots += 1 }
      if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "+") { spaces += 1 }
    }
    // No raw byte that comes here is a hexadecimal digit.
    if nestedEscape.hasBegun { followNestedEscape(byte, isRaw: false) }
    return nil
  }

  /// - Parameter isFirst: whether the path begins with it.
  private mutating func beginParameter(isFirst: Bool) -> PathRefusal? {
    note(isFirst ? .hidingParameter : .parameter)
    nestedEscape = .none
    if parameter != .certain, let refusal = classifyDots() { return refusal }
    parameter = .certain
    length += 1
    return nil
  }

  /// Whether the segment so far consists of dots and spaces, of which a byte of an older encoding may be one.
  private var isOfDots: Bool { dots + spaces == length && (dots > 0 || legacy == .only) }

  /// Classifies a segment of dots (and spaces) only. A parameter's bytes count into `length`, so that this happens
  /// once.
  private mutating func classifyDots() -> PathRefusal? {
    guard isOfDots else {
      // Some servers drop characters beyond ASCII: `..é` is `..` to them.
      if beyondASCII > 0, dots == 2, dots + spaces + beyondASCII == length { note(.confusable) }
      return nil
    }
    if legacy != .none {
      note(.malformedUTF8)
    } else if hasCompatibleDot {
      note(.confusable)
    } else if spaces == 0, dots <= 2 {
      return .dotSegment
    } else {
      note(.dots)
    }
    return nil
  }

  /// - Parameter isRaw: whether the byte is neither percent-encoded nor the form of another character.
  private mutating func followNestedEscape(_ byte: UInt8, isRaw: Bool) {
    switch nestedEscape {
    case .sign where byte | 0x20 == UInt8(ascii: "u"):
      note(.nestedEncoding)
      nestedEscape = .none
    case .sign(let isPlain) where Hex.value(of: byte) != nil: nestedEscape = .digit(isPlain: isPlain && isRaw)
    case .digit(let isPlain) where Hex.value(of: byte) != nil:
      note(isPlain && isRaw ? .doubleEncoding : .nestedEncoding)
      nestedEscape = .none
    case .none, .sign, .digit: nestedEscape = .none
    }
  }

  /// Reads one UTF-8 sequence whose bytes are raw, percent-encoded or both, and moves `index` past it, or past its
  /// first byte if it is malformed.
  private mutating func nonASCII(in path: Span<UInt8>, at index: inout Int) {
    guard let (scalar, end) = PathByte.scalar(path, at: index) else { return malformed(in: path, at: &index) }
    let isFirst = index == 1
    (index, endOfNonASCII) = (end, end)
    if Self.isConfusable(scalar) { note(.confusable) }
    var letters = CompatibilityLetters.ascii(of: scalar)
    let others = length - dots - spaces
    if letters == 0 {
      length += 1
      // Some decoders take the decimal digits of any script (Java's `Integer.parseInt`).
      if nestedEscape.hasBegun, Unicode.Scalar(scalar)?.properties.numericType == .decimal { note(.nestedEncoding) }
      // Best-fit code pages turn the Arabic percent sign into `%`.
      nestedEscape = scalar == 0x066A ? .sign(isPlain: false) : .none
    }
    while letters != 0 {
      takeCompatible(UInt8(truncatingIfNeeded: letters), isFirst: isFirst)
      letters >>= 8
    }
    beyondASCII += length - dots - spaces - others
  }

  /// Takes a byte that is not UTF-8.
  private mutating func malformed(in path: Span<UInt8>, at index: inout Int) {
    let (byte, next) = PathByte.decoded(path, at: index) ?? (path[index], index + 1)
    let following = next < path.count ? PathByte.decoded(path, at: next) : nil
    let isAlone = endOfNonASCII != index && following.map { $0.byte < 0x80 } ?? true
    (index, endOfNonASCII) = (next, next)
    guard isAlone, !nestedEscape.hasBegun, !isOfDots, Self.isLegacy(byte, before: following?.byte) else {
      length += 1
      nestedEscape = .none
      return note(.malformedUTF8)
    }
    note(.legacyByte)
    if parameter == .certain {
      length += 1
      return
    }
    legacy = legacy == .amongOthers || dots + spaces != length ? .amongOthers : .only
    (length, dots, spaces, hasCompatibleDot, beyondASCII) = (0, 0, 0, false, 0)
    // Some decoders drop the byte behind it as well, as that of one character: it does not count among the dots.
    if let following, Self.isDroppedWithLegacy(following.byte) {
      if following.next > next + 1, following.byte.isUnreserved { note(.encodedUnreserved) }
      legacy = .amongOthers
      index = following.next
    }
  }

  /// Whether the ASCII byte behind one of an older encoding may be dropped with it, without a meaning of its own.
  private static func isDroppedWithLegacy(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: " "), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "\\"),
      UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: ";"), ..<0x20, 0x7F...:
      false
    default: true
    }
  }

  /// Whether a byte that stands alone is a letter in an older encoding, and neither the beginning of an overlong form
  /// nor, before an ASCII byte, of a full-width character (from 0x81 in Shift JIS, from 0xA1 in Big5) or of one that
  /// normalization turns into dots (0xA8 and 0xA9 in GBK, 0xD9 and 0xDA in Johab). Nor does it stand before a `;` or
  /// `%`, which a decoder may drop with it.
  private static func isLegacy(_ byte: UInt8, before following: UInt8?) -> Bool {
    switch following {
    case UInt8(ascii: ";"), UInt8(ascii: "%"): return false
    default: break
    }
    return switch byte {
    case ..<0xA4, 0xA8, 0xA9, 0xC0, 0xC1: false
    case 0xD9, 0xDA: following.map { !"56<>?K".utf8.contains($0) } ?? true
    // Sloppy decoders take the lower six bits of the next byte, whatever it is.
    case 0xE0, 0xF0, 0xF8...: following.map { $0 & 0x3F >= 0x20 } ?? true
    default: true
    }
  }

  /// Takes an ASCII byte that only a server that normalizes characters would read. If it ended or completed a segment
  /// of dots, the character is a confusable; dots elsewhere and other signs, which are common in titles, only have a
  /// lenient reading.
  /// - Parameter isFirst: whether the path begins with its character.
  private mutating func takeCompatible(_ byte: UInt8, isFirst: Bool) {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "\\"): note(.confusable)
    case UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"):
      if isOfDots { note(.confusable) }
      if byte == UInt8(ascii: ";") {
        if parameter == .none { parameter = .possible }
        if isFirst { note(.hidingParameter) }
      } else if parameter != .none, byte != UInt8(ascii: ":") {
        note(.hidingParameter)
      }
    case UInt8(ascii: "."):
      if parameter != .certain {
        dots += 1
        hasCompatibleDot = true
      }
    case UInt8(ascii: " "), UInt8(ascii: "+"): if parameter != .certain { spaces += 1 }
    case UInt8(ascii: "%"):
      length += 1
      nestedEscape = .sign(isPlain: false)
      return
    default: if byte.isUnreserved { note(.compatibilityLetter) }
    }
    length += 1
    if nestedEscape.hasBegun { followNestedEscape(byte, isRaw: false) }
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
    if strongest.map({ $0 < found }) ?? true { strongest = found }
  }
}
