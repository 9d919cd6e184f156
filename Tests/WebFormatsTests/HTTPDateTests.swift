import Testing
import WebFormats

@Suite("The date of HTTP")
struct HTTPDateTests {
  @Test(
    "The date is read from the Date field",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Sat, 21 Nov 2026 08:00:00 GMT", 1_795_248_000),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
    ])
  func read(text: String, seconds: Int64) {
    #expect(HTTPDate.parse(text.utf8) == seconds)
  }

  @Test(
    "The date is not read from any other format",
    arguments: [
      "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Thu, 29 Feb 2100 00:00:00 GMT",
      "Sün, 06 Nov 1994 08:49:37 GM",
    ])
  func notRead(text: String) {
    #expect(HTTPDate.parse(text.utf8) == nil)
  }

  @Test("The date is written for each response as it would be read, and clamped to years of four digits")
  func written() {
    func text(_ second: Int64) -> String {
      var bytes: [UInt8] = []
      HTTPDate.append(second, to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    for second in [0, 784_111_777, 951_782_400, 951_868_799, 1_709_251_199, 1_795_248_000, 253_402_300_799] as [Int64] {
      #expect(HTTPDate.parse(text(second).utf8) == second)
    }
    #expect(text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(text(-1) == "Thu, 01 Jan 1970 00:00:00 GMT" && text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
  }
}
