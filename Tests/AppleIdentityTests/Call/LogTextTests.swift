import Testing

@testable import AppleIdentity

@Suite("Foreign text in logs")
struct LogTextTests {
  @Test("Foreign text in logs is printable ASCII of bounded length")
  func sanitized() {
    #expect(LogText.sanitized("a\r\nb\u{1B}[31m\u{202E}ü") == "a??b?[31m?????")
    #expect(LogText.sanitized(String(repeating: "x", count: 1000)).utf8.count == 200)
  }
}
