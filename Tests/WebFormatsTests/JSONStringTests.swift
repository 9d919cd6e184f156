import Foundation
import Testing

@testable import WebFormats

@Suite("JSON strings")
struct JSONStringTests {
  private func json(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    JSONString.append(bytes.span, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  @Test("Control characters of every kind are escaped")
  func controls() {
    #expect(json([0x61, 0x0D, 0x0A, 0x09, 0x00, 0x1B, 0x7F]) == #""a\r\n\t\u0000\u001b\u007f""#)
    #expect(json([UInt8]("\u{85}\u{9F}\u{2028}\u{2029}\u{202E}".utf8)) == #""\u0085\u009f\u2028\u2029\u202e""#)
    #expect(json([UInt8](#"say "\""#.utf8)) == #""say \"\\\"""#)
  }

  @Test("Each byte is classified alike at every position", arguments: [UInt8.min...UInt8.max])
  func places(bytes: ClosedRange<UInt8>) {
    for byte in bytes {
      let alone = json([byte]).dropFirst().dropLast()
      for place in 0..<19 {
        var text = [UInt8](repeating: UInt8(ascii: "!"), count: 19)
        text[place] = byte
        let (before, behind) = (String(repeating: "!", count: place), String(repeating: "!", count: 18 - place))
        #expect(json(text) == "\"\(before)\(alone)\(behind)\"")
      }
    }
  }

  @Test("Letters beyond ASCII stay as they are")
  func letters() {
    #expect(json([UInt8]("Zoë 井 🍎".utf8)) == "\"Zoë 井 🍎\"")
  }

  @Test(
    "Bytes that are not UTF-8 become a replacement character, and what follows is not lost",
    arguments: [
      ([0xFF, 0x61], "\u{FFFD}a"), ([0xC3, 0x61], "\u{FFFD}a"), ([0xE2, 0x82], "\u{FFFD}"),
      ([0xE2, 0x82, 0x22], "\u{FFFD}\\\""), ([0xC0, 0x8A], "\u{FFFD}\u{FFFD}"),
      ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
      ([0xC3, 0xC3, 0xA9], "\u{FFFD}é"), ([0xE2, 0x28, 0xA1], "\u{FFFD}(\u{FFFD}"),
    ] as [([UInt8], String)])
  func invalid(bytes: [UInt8], expected: String) {
    #expect(json(bytes) == "\"\(expected)\"")
  }

  @Test("For any bytes, the result is one line of valid JSON")
  func anything() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0..<24, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let rendered = json(bytes)
      #expect(rendered.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
      let parsed = try JSONSerialization.jsonObject(with: Data(rendered.utf8), options: .fragmentsAllowed) as? String
      #expect(parsed.map { Array($0.utf8) } == Array(String(decoding: bytes, as: UTF8.self).utf8), "\(bytes)")
    }
  }

  @Test("A less-than sign is escaped only where the string may come into a script element")
  func markup() {
    var bytes: [UInt8] = []
    JSONString.append("</script>".utf8Span.span, escapesMarkup: true, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #""\u003c/script>""#)
    #expect(json([UInt8]("</script>".utf8)) == #""</script>""#)
  }

  @Test("A writer puts commas between members and elements, and null where JSON has no number")
  func writer() {
    var json = JSONWriter()
    json.object { json in
      json.string("a", "\"")
      json.array("list") { json in
        json.number(nil, 1)
        json.number(nil, 0.5)
        json.number(nil, .infinity)
        json.object { json in json.null("none") }
      }
      json.object("empty") { _ in }
    }
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == #"{"a":"\"","list":[1,0.5,null,{"none":null}],"empty":{}}"#)
  }
}
