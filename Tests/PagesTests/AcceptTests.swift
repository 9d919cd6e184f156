import Pages
import Testing

@Suite("Preferences of Accept")
struct AcceptTests {
  @Test(
    "A client that names HTML prefers a page",
    arguments: [
      "text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "TEXT/HTML",
      " text/html ; q=0.5 ",
      "application/xhtml+xml", "text/*", "application/json;q=0.5, text/html", "application/json, text/html",
      "text/html;level=1;q=1.000", "*/*, text/html;q=0.001", "text/html;q=0.9,application/json;q=0.9",
    ])
  func html(accept: String) {
    #expect(prefersHTML(accept: Array(accept.utf8)))
  }

  @Test(
    "A client that does not name HTML, or less than JSON, prefers JSON",
    arguments: [
      "", "*/*", "application/json", "application/json, */*;q=0.5", "text/html;q=0", "text/html;q=0.000",
      "text/html;q=0.5, application/json",
      "text/plain", "image/*", "text/htmlx", "xtext/html", "text / html", "text/html;q=2", "text/html;q=1.5",
      "text/html;q=-1",
      "text/html;q=", "text/html;q=0.0001", "text/html;q=99999999999999999999", "text/html;q=a", ",", ";", ";;,;q=1",
      "text/event-stream",
    ])
  func json(accept: String) {
    #expect(!prefersHTML(accept: Array(accept.utf8)))
  }

  @Test("No bytes of an Accept field trap")
  func anyBytes() {
    for byte in UInt8.min...UInt8.max {
      #expect(!prefersHTML(accept: [byte]))
      #expect(prefersHTML(accept: Array("text/html,".utf8) + [byte, byte]))
    }
  }
}
