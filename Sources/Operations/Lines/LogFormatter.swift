internal import WebFormats

/// Renders one line of key and value pairs into a byte buffer, as JSON or as text.
///
/// For any values, the result is one line of valid UTF-8: control characters (C0, DEL, C1, and the separators U+2028
/// and U+2029, which some readers take for line ends) are escaped, and invalid UTF-8 is replaced by U+FFFD. Allocates
/// only if the buffer grows.
struct LogFormatter: ~Copyable {
  private var bytes: LogBuffer
  private let format: LineFormat
  private var isFirst = true

  /// Appends the line to `bytes`.
  init(_ bytes: consuming LogBuffer = LogBuffer(), format: LineFormat) {
    self.bytes = bytes
    self.format = format
    if format == .json { self.bytes.append(UInt8(ascii: "{")) }
  }

  /// Ends the line and returns the buffer.
  consuming func end() -> LogBuffer {
    if format == .json { bytes.append(UInt8(ascii: "}")) }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// The timestamp of the line: first in every line, without a key in text.
  mutating func time(_ time: Timestamp) {
    if format == .json {
      key("time")
      bytes.append(UInt8(ascii: "\""))
      bytes.append(time)
      bytes.append(UInt8(ascii: "\""))
    } else {
      separate()
      bytes.append(time)
    }
  }

  /// The kind of the line: a bare word in text, an ordinary field in JSON.
  mutating func kind(_ kind: StaticString) {
    if format == .json {
      key("kind")
      bytes.append(UInt8(ascii: "\""))
      bytes.append(kind)
      bytes.append(UInt8(ascii: "\""))
    } else {
      separate()
      bytes.append(kind)
    }
  }

  /// A field that is a bare word in text (a level) and an ordinary field in JSON. The value is a constant.
  mutating func word(_ key: StaticString, _ value: String) {
    if format == .json {
      string(key, value)
    } else {
      separate()
      bytes.append(value.utf8Span.span)
    }
  }

  @inline(__always)
  mutating func string(_ key: StaticString, _ value: Span<UInt8>) {
    self.key(key)
    if format == .json, JSONString.isPlain(value) {
      bytes.appendQuoted(value)
    } else {
      EscapedText.append(value, quoted: format == .json, to: &bytes)
    }
  }

  @inline(__always)
  mutating func string(_ key: StaticString, _ value: String) { string(key, value.utf8Span.span) }

  /// A field whose key is not known beforehand.
  mutating func string(dynamicKey: String, _ value: String) {
    separate()
    EscapedText.append(dynamicKey.utf8Span.span, quoted: format == .json, to: &bytes)
    bytes.append(format == .json ? UInt8(ascii: ":") : UInt8(ascii: "="))
    EscapedText.append(value.utf8Span.span, quoted: format == .json, to: &bytes)
  }

  /// Writes a number as sixteen hexadecimal digits: a pseudonym.
  mutating func pseudonym(_ key: StaticString, _ value: UInt64) {
    self.key(key)
    if format == .json { bytes.append(UInt8(ascii: "\"")) }
    bytes.append(hexadecimal: value)
    if format == .json { bytes.append(UInt8(ascii: "\"")) }
  }

  @inline(__always)
  mutating func integer(_ key: StaticString, _ value: UInt64) {
    self.key(key)
    Decimal.append(value, to: &bytes)
  }

  /// A duration in seconds with microseconds, from nanoseconds: `0.012345`.
  @inline(__always)
  mutating func seconds(_ key: StaticString, nanoseconds: UInt64) {
    self.key(key)
    Decimal.append(nanoseconds / 1_000_000_000, to: &bytes)
    bytes.append(UInt8(ascii: "."))
    Decimal.append(nanoseconds % 1_000_000_000 / 1_000, width: 6, to: &bytes)
  }

  mutating func boolean(_ key: StaticString, _ value: Bool) {
    self.key(key)
    if value { bytes.append("true") } else { bytes.append("false") }
  }

  @inline(__always)
  private mutating func key(_ key: StaticString) {
    if format == .json {
      bytes.appendJSONKey(key, isFirst: isFirst)
      isFirst = false
    } else {
      separate()
      bytes.append(key)
      bytes.append(UInt8(ascii: "="))
    }
  }

  private mutating func separate() {
    if isFirst {
      isFirst = false
    } else {
      bytes.append(format == .json ? UInt8(ascii: ",") : UInt8(ascii: " "))
    }
  }
}

/// Unsigned numbers in decimal.
enum Decimal {
  /// - Parameter width: digits at least, 1 to 20, with zeros before the number.
  static func append(_ value: UInt64, width: Int = 1, to bytes: inout some ByteSink & ~Copyable) {
    if value < 10, width == 1 { return bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
    guard value < 100_000_000, width <= 8 else { return appendLong(value, width: width, to: &bytes) }
    let digits = eightDigits(UInt32(truncatingIfNeeded: value))
    let zeros = min(digits.trailingZeroBitCount / 8, 8 - width)
    let text: InlineArray<1, UInt64> = [((digits | 0x3030_3030_3030_3030) >> UInt64(8 * zeros)).littleEndian]
    bytes.append(text.span.bytes._unsafeView(as: UInt8.self).extracting(..<(8 - zeros)))
  }

  /// The digits of a number below 100,000,000 as the bytes of a word, the first in the lowest place.
  private static func eightDigits(_ number: UInt32) -> UInt64 {
    // Two numbers of four digits, then four of two, then eight of one: all of a step are divided at once, by a product
    // that is exact for numbers of that size.
    let fours = UInt64(number / 10_000) | UInt64(number % 10_000) << 32
    let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
    let twos = hundreds | (fours &- hundreds &* 100) << 16
    let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
    return tens | (twos &- tens &* 10) << 8
  }

  private static func appendLong(_ value: UInt64, width: Int, to bytes: inout some ByteSink & ~Copyable) {
    // 20 digits are the most that 64 bits have.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = value
      while rest > 0 || start > digits.count - width {
        start -= 1
        digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      }
      bytes.append(UnsafeBufferPointer(rebasing: digits[start...]).span)
    }
  }
}
