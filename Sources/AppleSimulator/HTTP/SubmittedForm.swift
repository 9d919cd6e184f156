/// The fields of a query string or of an `application/x-www-form-urlencoded` body, in the order they came.
struct SubmittedForm: Sendable, Equatable {
  struct Field: Sendable, Equatable {
    let name: String
    let value: String
  }

  let fields: [Field]

  /// The fields of a body, where `+` is a space.
  init(body: some Collection<UInt8>) {
    self.init(body, plusIsSpace: true)
  }

  /// The fields of the authorize URL, where Apple takes `+` literally: `scope=name+email` is one unknown scope.
  init(query: String?) {
    self.init(Array((query ?? "").utf8), plusIsSpace: false)
  }

  private init(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) {
    fields = bytes.split(separator: UInt8(ascii: "&")).map { pair in
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let value = equals == pair.endIndex ? pair[equals...] : pair[equals...].dropFirst()
      return Field(
        name: Self.decode(pair[..<equals], plusIsSpace: plusIsSpace),
        value: Self.decode(value, plusIsSpace: plusIsSpace))
    }
  }

  /// The first value of a name; an empty value counts as none, as Apple has it.
  subscript(name: String) -> String? {
    fields.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
  }

  /// A name that came more than once (RFC 6749, 3.1 forbids it), or nothing.
  var repeatedName: String? {
    var seen: Set<String> = []
    return fields.first { !seen.insert($0.name).inserted }?.name
  }

  private static func decode(_ slice: some Collection<UInt8>, plusIsSpace: Bool) -> String {
    let bytes = Array(slice)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(byte == UInt8(ascii: "+") && plusIsSpace ? 0x20 : byte)
        index += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Percent-encodes everything but the unreserved characters (RFC 3986, 2.3).
func percentEncoded(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var encoded: [UInt8] = []
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      encoded.append(byte)
    default:
      encoded.append(UInt8(ascii: "%"))
      encoded.append(digits[Int(byte >> 4)])
      encoded.append(digits[Int(byte & 15)])
    }
  }
  return String(decoding: encoded, as: UTF8.self)
}

/// Text escaped for HTML elements and quoted attributes.
func escapedHTML(_ text: String) -> String {
  var escaped: [UInt8] = []
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "&"): escaped += Array("&amp;".utf8)
    case UInt8(ascii: "<"): escaped += Array("&lt;".utf8)
    case UInt8(ascii: ">"): escaped += Array("&gt;".utf8)
    case UInt8(ascii: "\""): escaped += Array("&quot;".utf8)
    case UInt8(ascii: "'"): escaped += Array("&#39;".utf8)
    default: escaped.append(byte)
    }
  }
  return String(decoding: escaped, as: UTF8.self)
}
