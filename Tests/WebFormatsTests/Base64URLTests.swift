import Testing

@testable import WebFormats

@Suite("Base64url")
struct Base64URLTests {
  @Test("Base64url text decodes to the bytes that were encoded, for every length")
  func roundTrip() {
    for length in 0..<70 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      let text = Base64URL.text(bytes)
      #expect(!text.contains("=") && !text.contains("+") && !text.contains("/"))
      #expect(Base64URL.decode(text.utf8) == bytes)
    }
    #expect(Base64URL.text([0xFB, 0xFF]) == "-_8")
  }

  @Test(
    "Each sequence of bytes has one base64url text: padding, the other alphabet, stray bits and characters are refused",
    arguments: ["A", "AA=", "AA==", "AB", "AAB", "A+", "A/", "AA A", "AA\n", "AAAAA", "ÄÄ", "AA.A"])
  func strict(text: String) {
    #expect(Base64URL.decode(text.utf8) == nil)
  }

  @Test(
    "Plain base64 has the other alphabet, and padding (RFC 4648, 10)",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{FF}\u{BF}", "w7/Cvw=="),
    ])
  func padded(text: String, expected: String) {
    #expect(String(decoding: Base64.encode(text.utf8), as: UTF8.self) == expected)
    #expect(read(expected).whole == Array(text.utf8))
    let bare = String(expected.prefix { $0 != "=" })
    #expect(read(bare).whole == Array(text.utf8), "padding may be left out")
  }

  @Test(
    "Reading plain base64 stops at the first character that is none of it, and says so",
    arguments: [
      ("Zm9v!Zm9v", "foo"), ("Zm9v=", "foo"), ("Zm9vYg=", "foob"), ("Zm9vYg==x", "foob"), ("Zm9vYg===", "foob"),
      ("Zm9vYh==", "foob"), ("Zm9v Zm9v", "foo"), ("Zm9vY", "foo"), ("Zm9v_w", "foo"), ("=", ""), ("==", ""),
    ])
  func stops(text: String, before: String) {
    let (bytes, whole) = read(text)
    #expect(whole == nil, "\(text)")
    #expect(bytes == Array(before.utf8), "\(text)")
  }

  private func read(_ text: String) -> (bytes: [UInt8], whole: [UInt8]?) {
    var bytes: [UInt8] = []
    let isWhole = Base64.decode(Array(text.utf8).span.bytes) { bytes.append($0) }
    return (bytes, isWhole ? bytes : nil)
  }
}
