import Testing

@testable import WebFormats

@Suite("Hexadecimal digits and percent-encoding")
struct HexTests {
  @Test("Exactly the digits and the letters a to f of either case are hexadecimal digits")
  func digits() {
    for byte in UInt8.min...UInt8.max {
      let scalar = Character(UnicodeScalar(byte))
      #expect(Hex.value(of: byte).map(Int.init) == (byte < 0x80 ? scalar.hexDigitValue : nil), "\(byte)")
    }
    for value in 0..<16 as Range<UInt8> {
      #expect(Hex.value(of: Hex.digit(value)) == value && Hex.value(of: Hex.uppercaseDigit(value)) == value)
    }
    #expect(Hex.text([0x00, 0x9A, 0xFF]) == "009aff")
  }

  @Test("Every byte but the unreserved ones of RFC 3986 is encoded, and decodes to itself")
  func percentEncoding() {
    let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    for byte in UInt8.min..<0x80 {
      let text = String(decoding: [byte], as: UTF8.self)
      let encoded = PercentEncoding.encode(text)
      #expect((encoded == text) == unreserved.contains(byte), "\(byte)")
      #expect(PercentEncoding.decode(Array(encoded.utf8)) == [byte])
    }
    #expect(PercentEncoding.encode("/a b+é", keepsSlash: true) == "/a%20b%2B%C3%A9")
    #expect(PercentEncoding.query([("scope", "name email"), ("a&b", "=")]) == "scope=name%20email&a%26b=%3D")
  }

  @Test(
    "A malformed escape decodes to nothing, and a plus sign stays one", arguments: ["%", "%4", "%4g", "%+1", "a%%"])
  func malformedEscapes(text: String) {
    #expect(PercentEncoding.decode(Array(text.utf8)) == nil)
    #expect(PercentEncoding.decode(Array("a+b".utf8)) == Array("a+b".utf8))
  }

  @Test("Bytes are folded and classified as ASCII, whatever follows")
  func classes() {
    let tokens = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for byte in UInt8.min...UInt8.max {
      #expect(byte.isToken == tokens.contains(byte), "\(byte)")
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      #expect(byte.asciiLowercased == (isUpper ? byte + 32 : byte))
    }
  }
}
