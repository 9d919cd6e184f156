import Testing
import WebFormats

@Suite("Character references of HTML")
struct HTMLReferenceTests {
  @Test("The characters that could end a text or a quoted attribute have references, and no others")
  func references() {
    let references = (0..<0x3000).compactMap { Unicode.Scalar(UInt32($0)) }.compactMap(HTMLReference.of)
    #expect(references == ["&quot;", "&amp;", "&#39;", "&lt;", "&gt;"])
    #expect(HTMLReference.of("\"") == "&quot;" && HTMLReference.of("&") == "&amp;" && HTMLReference.of("'") == "&#39;")
    #expect(HTMLReference.of("<") == "&lt;" && HTMLReference.of(">") == "&gt;")
  }
}
