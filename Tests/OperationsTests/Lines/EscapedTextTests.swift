import Testing

@testable import Operations

@Suite("Values in text lines")
struct EscapedTextTests {
  private func text(_ value: String) -> String {
    var out: [UInt8] = []
    EscapedText.append(value.utf8Span.span, quoted: false, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  @Test("Text lines quote only what needs it")
  func bare() {
    #expect(text("/app/page.html") == "/app/page.html")
    #expect(text("") == "\"\"")
    #expect(text("two words") == "\"two words\"")
    #expect(text("a=b") == "\"a=b\"")
    #expect(text("a\nlevel=error") == #""a\nlevel=error""#)
  }
}
