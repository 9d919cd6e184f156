import Testing
import WebFormats

@Suite("Media types")
struct MediaTypeTests {
  @Test("A media type is compared without its parameters, white space and case")
  func matches() {
    for value in ["text/html", "TEXT/Html", " \ttext/html ; charset=utf-8", "text/html;", "text/html charset"] {
      #expect(MediaType.matches(value, "text/html"), "\(value)")
    }
    for value in ["", "text/htm", "text/htmlx", "text", "application/text/html", ";text/html", "text/ html"] {
      #expect(!MediaType.matches(value, "text/html"), "\(value)")
    }
    #expect(!MediaType.matches(nil, "text/html") && !MediaType.matches(nil, ""))
    #expect(MediaType.withoutParameters("Application/JSON; q=1".utf8) == Array("application/json".utf8))
  }
}
