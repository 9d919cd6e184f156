/// Renders one line of key and value pairs into a byte buffer, as JSON or as text.
///
/// Whatever the values hold, a line is one line of valid UTF-8: control characters (C0, DEL, C1, and the separators
/// U+2028 and U+2029, which some readers take for line ends) are escaped, and bytes that are no UTF-8 are replaced by
/// U+FFFD. Nothing is allocated but the buffer's own growth.
struct LineWriter: ~Copyable {
  private var bytes: [UInt8]
  private let format: LineFormat
  private var isFirst = true

  /// Takes over `bytes`, which must have no other owner if the buffer is not to be copied.
  init(_ bytes: consuming [UInt8], format: LineFormat) {
    self.bytes = bytes
    self.format = format
    if format == .json { self.bytes.append(UInt8(ascii: "{")) }
  }

  /// Ends the line and gives the buffer back.
  consuming func end() -> [UInt8] {
    if format == .json { bytes.append(UInt8(ascii: "}")) }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// The moment of the line: first in every line, without a key in text.
  mutating func time(_ time: Timestamp) {
    if format == .json {
      key("time")
      bytes.append(UInt8(ascii: "\""))
      time.append(to: &bytes)
      bytes.append(UInt8(ascii: "\""))
    } else {
      separate()
      time.append(to: &bytes)
    }
  }

  /// A field that is a bare word in text (a level, a kind) and an ordinary field in JSON. The value is a constant of
  /// ours.
  mutating func word(_ key: StaticString, _ value: String) {
    if format == .json {
      string(key, value)
    } else {
      separate()
      bytes.append(contentsOf: value.utf8)
    }
  }

  mutating func string(_ key: StaticString, _ value: some Sequence<UInt8>) {
    self.key(key)
    EscapedText.append(value, quoted: format == .json, to: &bytes)
  }

  mutating func string(_ key: StaticString, _ value: String) { string(key, value.utf8) }

  /// A field whose key is not known beforehand.
  mutating func string(dynamicKey: String, _ value: String) {
    separate()
    EscapedText.append(dynamicKey.utf8, quoted: format == .json, to: &bytes)
    bytes.append(format == .json ? UInt8(ascii: ":") : UInt8(ascii: "="))
    EscapedText.append(value.utf8, quoted: format == .json, to: &bytes)
  }

  mutating func integer(_ key: StaticString, _ value: UInt64) {
    self.key(key)
    Decimal.append(value, to: &bytes)
  }

  /// A duration in seconds with microseconds, from nanoseconds: `0.012345`.
  mutating func seconds(_ key: StaticString, nanoseconds: UInt64) {
    self.key(key)
    Decimal.append(nanoseconds / 1_000_000_000, to: &bytes)
    bytes.append(UInt8(ascii: "."))
    var rest = nanoseconds % 1_000_000_000 / 1_000
    var divisor: UInt64 = 100_000
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
      rest %= divisor
      divisor /= 10
    }
  }

  mutating func boolean(_ key: StaticString, _ value: Bool) {
    self.key(key)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  private mutating func key(_ key: StaticString) {
    separate()
    let quote = format == .json
    if quote { bytes.append(UInt8(ascii: "\"")) }
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    if quote { bytes.append(UInt8(ascii: "\"")) }
    bytes.append(quote ? UInt8(ascii: ":") : UInt8(ascii: "="))
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
  static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    if value < 10 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
      return
    }
    let start = bytes.count
    var rest = value
    while rest > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }
}
