import Testing
import WebFormats

@Suite("Percent-encoding")
struct PercentEncodingTests {
  @Test("Of a request target, bytes that are not printable ASCII are encoded, and escapes stay as they are")
  func requestTarget() {
    let target: [UInt8] = Array("/a b%20c?d=\t&e=".utf8) + [0x7F, 0xC3, 0xBC, 0x0D, 0x0A]
    #expect(PercentEncoding.requestTarget(target) == "/a%20b%20c?d=%09&e=%7F%C3%BC%0D%0A")
    #expect(PercentEncoding.requestTarget(Array("/;x?~!$'()*+,:@[]|\"<>".utf8)) == "/;x?~!$'()*+,:@[]|\"<>")
    #expect(PercentEncoding.requestTarget([]) == "")
  }
}
