import CPostgreSQL
import WebFormats

/// A value that is sent with a statement, never in its text. Lists are for `unnest` and `ANY`.
enum Parameter: Sendable {
  case integer(Int64?)
  case text(String?)
  case bytes([UInt8]?)
  case integers([Int64?])
  case texts([String?])
  case byteStrings([[UInt8]?])

  /// The type, as `pg_type` of every server numbers it.
  var type: Oid {
    switch self {
    case .integer: 20  // int8
    case .text: 25
    case .bytes: 17  // bytea
    case .integers: 1_016  // int8[]
    case .texts: 1_009  // text[]
    case .byteStrings: 1_001  // bytea[]
    }
  }

  /// Whether the value travels as the bytes it is, instead of as text.
  var isBinary: Bool {
    if case .bytes = self { return true }
    return false
  }

  /// The bytes sent; nil for NULL. Text ends at a NUL, which no text of PostgreSQL may hold: it is dropped.
  var value: [UInt8]? {
    switch self {
    case .integer(let number): number.map { Array(String($0).utf8) }
    case .text(let text): text.map { $0.utf8.filter { $0 != 0 } }
    case .bytes(let bytes): bytes
    case .integers(let numbers): Self.list(numbers.map { $0.map { Array(String($0).utf8) } })
    case .texts(let texts): Self.list(texts.map { $0.map { Self.quoted($0.utf8.filter { $0 != 0 }) } })
    case .byteStrings(let strings): Self.list(strings.map { $0.map { Self.quoted(Self.hexadecimal($0)) } })
    }
  }

  /// The input syntax of arrays (PostgreSQL's manual, 8.15.6).
  private static func list(_ elements: [[UInt8]?]) -> [UInt8] {
    var text: [UInt8] = [UInt8(ascii: "{")]
    for (index, element) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text += element ?? Array("NULL".utf8)
    }
    return text + [UInt8(ascii: "}")]
  }

  private static func quoted(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { result.append(UInt8(ascii: "\\")) }
      result.append(byte)
    }
    return result + [UInt8(ascii: "\"")]
  }

  /// `\x` and two digits for each byte (8.4.1).
  private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    Array("\\x".utf8) + Hex.text(bytes).utf8
  }
}
