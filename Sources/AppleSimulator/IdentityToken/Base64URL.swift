import FoundationEssentials

/// Base64 with the URL alphabet and without padding (RFC 7515, 2).
func base64URL(_ bytes: some Sequence<UInt8>) -> String {
  let text = Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
    switch byte {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    case UInt8(ascii: "="): nil
    default: byte
    }
  }
  return String(decoding: text, as: UTF8.self)
}

/// Decodes such a text; nil if it is invalid.
func base64URLDecoded(_ text: some Collection<UInt8>) -> Data? {
  var standard = text.map { byte in
    switch byte {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }
  standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
  return Data(base64Encoded: Data(standard))
}

/// A random text of `bytes` × 4/3 characters, as codes and tokens are made of.
func randomText(bytes count: Int) -> String {
  var generator = SystemRandomNumberGenerator()
  return base64URL((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
}
