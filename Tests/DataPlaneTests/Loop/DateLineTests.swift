import Testing

@testable import DataPlane

@Suite("The Date line of responses")
struct DateLineTests {
  @Test(
    "A second is written as RFC 9110 has it",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_077_926_399, "Fri, 27 Feb 2004 23:59:59 GMT"),
      (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.max / 1_000, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (-1, "Thu, 01 Jan 1970 00:00:00 GMT"), (Int64.min / 1_000, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ] as [(Int64, String)])
  func text(_ second: Int64, _ text: String) {
    var line = DateLine()
    let bytes = line.bytes(at: second * 1_000)
    #expect(String(decoding: bytes, as: UTF8.self) == "Date: \(text)\r\n")
    #expect(String(decoding: bytes[DateLine.value], as: UTF8.self) == text)
  }

  @Test("The line stays for its second, and follows the clock backwards too")
  func renewal() {
    var line = DateLine()
    let first = line.bytes(at: 784_111_777_000)
    #expect(line.bytes(at: 784_111_777_999) == first)
    #expect(line.bytes(at: 784_111_778_000) != first)
    #expect(line.bytes(at: 784_111_777_500) == first)
  }
}
