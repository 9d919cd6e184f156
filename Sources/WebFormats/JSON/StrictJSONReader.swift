/// Parses one JSON text (RFC 8259, 2) from bytes that are known to be UTF-8. Recursion ends at the caller's depth
/// limit, which bounds the stack.
struct StrictJSONReader {
  private let bytes: [UInt8]
  private let maximumDepth: Int
  private var position = 0
  private var depth = 0

  init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  /// `JSON-text = ws value ws`
  mutating func wholeText() throws(StrictJSONError) -> StrictJSON {
    skipWhitespace()
    let value = try value()
    skipWhitespace()
    guard position == bytes.count else { throw .malformed }
    return value
  }

  /// `value = false / null / true / object / array / number / string`
  private mutating func value() throws(StrictJSONError) -> StrictJSON {
    switch next {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: return try number()
    }
  }

  /// `object = begin-object [ member *( value-separator member ) ] end-object`
  private mutating func object() throws(StrictJSONError) -> [String: StrictJSON] {
    try enter()
    var members: [String: StrictJSON] = [:]
    if !take(UInt8(ascii: "}")) {
      repeat {
        skipWhitespace()
        let name = try string()
        skipWhitespace()
        guard take(UInt8(ascii: ":")) else { throw .malformed }
        skipWhitespace()
        guard members.updateValue(try value(), forKey: name) == nil else { throw .malformed }
        skipWhitespace()
      } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: "}")) else { throw .malformed }
    }
    depth -= 1
    return members
  }

  /// `array = begin-array [ value *( value-separator value ) ] end-array`
  private mutating func array() throws(StrictJSONError) -> [StrictJSON] {
    try enter()
    var elements: [StrictJSON] = []
    if !take(UInt8(ascii: "]")) {
      repeat {
        skipWhitespace()
        elements.append(try value())
        skipWhitespace()
      } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: "]")) else { throw .malformed }
    }
    depth -= 1
    return elements
  }

  /// Skips an opening bracket or brace, and the white space after it.
  private mutating func enter() throws(StrictJSONError) {
    position += 1
    depth += 1
    guard depth <= maximumDepth else { throw .tooDeep }
    skipWhitespace()
  }

  /// `string = quotation-mark *char quotation-mark`; an unpaired surrogate is refused.
  private mutating func string() throws(StrictJSONError) -> String {
    guard take(UInt8(ascii: "\"")) else { throw .malformed }
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0x00..<0x20: throw .malformed
      default: text.append(byte)
      }
    }
    throw .malformed
  }

  private mutating func escape(into text: inout [UInt8]) throws(StrictJSONError) {
    guard let byte = next else { throw .malformed }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: try escapedScalar().utf8)
    default: throw .malformed
    }
  }

  /// The part after `\u`: four digits, or for a code point beyond U+FFFF two escapes of four digits.
  private mutating func escapedScalar() throws(StrictJSONError) -> Character {
    var code = try fourHexDigits()
    if (0xD800..<0xDC00).contains(code) {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw .malformed }
      let low = try fourHexDigits()
      guard (0xDC00..<0xE000).contains(low) else { throw .malformed }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw .malformed }
    return Character(scalar)
  }

  private mutating func fourHexDigits() throws(StrictJSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Hex.value(of: byte) else { throw .malformed }
      position += 1
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// `number = [ minus ] int [ frac ] [ exp ]`
  private mutating func number() throws(StrictJSONError) -> StrictJSON {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    var isWhole = true
    if take(UInt8(ascii: ".")) {
      isWhole = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    // The text matches the grammar above, so neither initializer sees a form that only it accepts (`+5`, `0x10`,
    // `inf`).
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else { throw .malformed }
    return .number(number)
  }

  /// `1*DIGIT`
  private mutating func digits() throws(StrictJSONError) {
    let start = position
    while let byte = next, byte.isASCIIDigit { position += 1 }
    guard position > start else { throw .malformed }
  }

  private mutating func literal(
    _ word: String, _ value: StrictJSON
  ) throws(StrictJSONError) -> StrictJSON {
    for byte in word.utf8 {
      guard take(byte) else { throw .malformed }
    }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipWhitespace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }
}
