import Testing
import WebFormats

@Suite("The cookies of a request")
struct RequestCookiesTests {
  @Test("Cookies are pairs between semicolons, of all fields, split at their first equals sign")
  func pairs() {
    let cookies = RequestCookies(["a=1; b=2;c=3", "\t d = 4 ;; e; f=\"x y\"", "a=5; g=h=i; =j; k="])
    #expect(cookies.first("a") == "1" && cookies.all("a") == ["1", "5"])
    #expect(cookies.first("b") == "2" && cookies.first("c") == "3")
    #expect(cookies.first("d ") == " 4" && cookies.first("d") == nil)
    #expect(cookies.first("e") == nil && cookies.first("f") == "\"x y\"")
    #expect(cookies.first("g") == "h=i" && cookies.first("") == "j" && cookies.first("k") == "")
    #expect(RequestCookies([String]()).first("a") == nil && RequestCookies(["", ";", " "]).all("") == [])
  }

  @Test("Names of cookies are compared byte for byte")
  func names() {
    // KELVIN SIGN, which String takes for K, and two spellings of one letter.
    let cookies = RequestCookies(["\u{212A}=1; \u{E9}=2; a=3"])
    #expect(cookies.first("K") == nil && cookies.all("K") == [])
    #expect(cookies.first("e\u{301}") == nil && cookies.first("\u{E9}") == "2")
    #expect(cookies.first("A") == nil)
  }

  @Test("Of cookies whose names begin alike the first 32 are found")
  func alike() {
    let flood = (0..<40).map { "x-\($0)=1; y-\($0)=2" }.joined(separator: "; ")
    let cookies = RequestCookies([flood, "X-1=3"])
    #expect(cookies.names(after: "x-") == (0..<32).map { "\($0)" })
    #expect(cookies.names(after: "X-") == ["1"] && cookies.names(after: "z-") == [])
    #expect(RequestCookies.mostAlike == 32)
  }
}
