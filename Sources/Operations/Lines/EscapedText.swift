/// Text from anywhere as one printable piece of a line.
enum EscapedText {
  /// Appends `text`, escaped as a JSON string (RFC 8259 section 7).
  ///
  /// - Parameter quoted: whether quotation marks stand around it always (JSON) or only where the text is empty or holds
  ///   anything but letters, digits and harmless punctuation (text lines).
  static func append(_ text: Span<UInt8>, quoted: Bool, to bytes: inout some LogByteSink & ~Copyable) {
    let isPlain = isPlain(text)
    let isBare = isPlain && !quoted && isOneWord(text)
    if !isBare { bytes.append(UInt8(ascii: "\"")) }
    if isPlain { bytes.append(text) } else { appendContents(text, to: &bytes) }
    if !isBare { bytes.append(UInt8(ascii: "\"")) }
  }

  /// Whether the text is printable ASCII without `"` and `\`: nearly all is, and goes on as it stands.
  static func isPlain(_ text: Span<UInt8>) -> Bool {
    let bytes = text.bytes
    let count = bytes.byteCount
    guard count >= 8 else { return isPlain(short(bytes)) }
    // Eight at once; the last eight may overlap those before.
    var offset = 0
    while offset + 8 < count {
      guard isPlain(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)) else { return false }
      offset += 8
    }
    return isPlain(bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
  }

  /// Each test leaves the highest bit of a byte that fails it.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    let below = (word &- 0x2020_2020_2020_2020) & ~word
    let special = zeros(word ^ 0x2222_2222_2222_2222) | zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
    return (word | below | special | zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F)) & 0x8080_8080_8080_8080 == 0
  }

  /// Fewer than eight bytes, the rest of the word being spaces.
  private static func short(_ bytes: RawSpan) -> UInt64 {
    var word: UInt64 = 0x2020_2020_2020_2020
    for offset in 0..<bytes.byteCount {
      word = word << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    return word
  }

  /// The highest bit of each byte that is zero, and perhaps of one above it.
  @inline(__always)
  private static func zeros(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word }

  /// Whether plain text can stand in a text line without quotation marks: not empty, and without spaces and `=`.
  private static func isOneWord(_ text: Span<UInt8>) -> Bool {
    !text.isEmpty && text.indices.allSatisfy { text[$0] != UInt8(ascii: " ") && text[$0] != UInt8(ascii: "=") }
  }

  private static func appendContents(_ text: Span<UInt8>, to bytes: inout some LogByteSink & ~Copyable) {
    var sequence = UTF8Sequence()
    for index in text.indices {
      let byte = text[index]
      if byte < 0x80 {
        if sequence.isOpen { appendReplacement(to: &bytes) }
        sequence = UTF8Sequence()
        appendASCII(byte, to: &bytes)
        continue
      }
      switch sequence.take(byte) {
      case .more: continue
      case .scalar(let scalar):
        appendScalar(scalar, to: &bytes)
        sequence = UTF8Sequence()
      case .invalid(let restarts):
        appendReplacement(to: &bytes)
        sequence = UTF8Sequence()
        // The byte that broke one sequence may begin the next.
        if restarts, case .invalid = sequence.take(byte) {
          appendReplacement(to: &bytes)
          sequence = UTF8Sequence()
        }
      }
    }
    if sequence.isOpen { appendReplacement(to: &bytes) }
  }

  private static func appendASCII(_ byte: UInt8, to bytes: inout some LogByteSink & ~Copyable) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0x0A: bytes.append("\\n")
    case 0x0D: bytes.append("\\r")
    case 0x09: bytes.append("\\t")
    case 0x00..<0x20, 0x7F: appendEscape(UInt32(byte), to: &bytes)
    default: bytes.append(byte)
    }
  }

  private static func appendScalar(_ scalar: Unicode.Scalar, to bytes: inout some LogByteSink & ~Copyable) {
    switch scalar.value {
    // C1 controls and line separators; bidirectional controls, which can make a line read otherwise than it is.
    case 0x80..<0xA0, 0x2028...0x202E, 0x200E...0x200F, 0x2066...0x2069, 0xFEFF: appendEscape(scalar.value, to: &bytes)
    default: for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(unit) }
    }
  }

  private static func appendReplacement(to bytes: inout some LogByteSink & ~Copyable) {
    for unit in UTF8.encodedReplacementCharacter { bytes.append(unit) }
  }

  private static func appendEscape(_ value: UInt32, to bytes: inout some LogByteSink & ~Copyable) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(UInt8(ascii: "u"))
    for shift in [12, 8, 4, 0] as [UInt32] {
      let digit = UInt8(truncatingIfNeeded: value >> shift & 0xF)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}

/// One multi-byte sequence of UTF-8 as its bytes arrive (RFC 3629 section 4).
private struct UTF8Sequence {
  private var value: UInt32 = 0
  private var remaining = 0
  /// What the next byte may be; narrower than 80 to BF after E0, ED, F0 and F4.
  private var allowed: ClosedRange<UInt8> = 0x80...0xBF

  enum Step {
    case more
    case scalar(Unicode.Scalar)
    /// The sequence is none; `restarts` says whether the byte at hand was not part of it.
    case invalid(restarts: Bool)
  }

  var isOpen: Bool { remaining > 0 }

  mutating func take(_ byte: UInt8) -> Step {
    if remaining == 0 { return begin(byte) }
    guard allowed.contains(byte) else { return .invalid(restarts: true) }
    allowed = 0x80...0xBF
    value = value << 6 | UInt32(byte & 0x3F)
    remaining -= 1
    guard remaining == 0 else { return .more }
    guard let scalar = Unicode.Scalar(value) else { return .invalid(restarts: false) }
    return .scalar(scalar)
  }

  private mutating func begin(_ byte: UInt8) -> Step {
    switch byte {
    case 0xC2...0xDF: (remaining, value) = (1, UInt32(byte & 0x1F))
    case 0xE0...0xEF:
      (remaining, value) = (2, UInt32(byte & 0x0F))
      if byte == 0xE0 { allowed = 0xA0...0xBF }
      if byte == 0xED { allowed = 0x80...0x9F }
    case 0xF0...0xF4:
      (remaining, value) = (3, UInt32(byte & 0x07))
      if byte == 0xF0 { allowed = 0x90...0xBF }
      if byte == 0xF4 { allowed = 0x80...0x8F }
    default: return .invalid(restarts: false)
    }
    return .more
  }
}
