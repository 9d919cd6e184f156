import Testing
import WebFormats

@testable import HTTPWire

// Cases: place and number, several lines, forged twins, look-alikes, case, white space, quotes, Set-Cookie.

@Suite("The gateway's own cookies")
struct GatewayCookiesTests {
  private func cookies(_ lines: String...) -> [[String]] {
    readRequest("GET / HTTP/1.1\r\nHost: a\r\n" + lines.map { "Cookie: \($0)\r\n" }.joined() + "\r\n").gatewayCookies
  }

  @Test("The gateway's cookies are found first, in the middle, last and alone")
  func places() {
    let ours = [["__Host-cordon", "v"]]
    #expect(cookies("__Host-cordon=v") == ours)
    #expect(cookies("__Host-cordon=v; a=1") == ours)
    #expect(cookies("a=1; __Host-cordon=v; b=2") == ours)
    #expect(cookies("a=1; __Host-cordon=v") == ours)
    #expect(cookies("a=1;__Host-cordon=v;b=2") == ours)
  }

  @Test("Session and attempts are found in their order, over several lines")
  func several() {
    #expect(
      cookies("__Host-cordon-attempt-1=x; a=1; __Host-cordon=y", "b=2", "c=3; __Host-cordon-attempt-2=z")
        == [["__Host-cordon-attempt-1", "x"], ["__Host-cordon", "y"], ["__Host-cordon-attempt-2", "z"]])
  }

  @Test(
    "The gate finds the same values in place as the endpoints find in their copy",
    arguments: [
      "__Host-cordon=v; a=1", "a=1;__Host-cordon=v", "\t__Host-cordon=v  ;a=1", "__Host-cordon=a=b==;;",
      "__Host-cordon=\"a;b\"; __Host-cordon= v ", "__Host-cordon=; __Host-cordon=x", "a=__Host-cordon=v", ";;=;",
    ])
  func sameRule(line: String) {
    let found = cookies(line).filter { $0[0] == "__Host-cordon" }.map { $0[1] }
    #expect(RequestCookies([line]).all("__Host-cordon") == found)
  }

  @Test("A forged cookie is found in addition to the true one, whichever comes first")
  func twins() {
    #expect(
      cookies("__Host-cordon=forged; __Host-cordon=true") == [["__Host-cordon", "forged"], ["__Host-cordon", "true"]])
    #expect(
      cookies("__Host-cordon=true", "__Host-cordon=forged") == [
        ["__Host-cordon", "true"], ["__Host-cordon", "forged"],
      ])
  }

  @Test(
    "Look-alikes belong to the application",
    arguments: [
      "__Host-cordonx=v", "__Host-cordo=v", "_Host-cordon=v", "x__Host-cordon=v", "__Host-cordon_a=v",
      "__Host.cordon=v",
      "a=__Host-cordon=v", "__Secure-cordon=v", "cordon=v", "__Host-cordon\u{e9}=v", "=__Host-cordon",
    ])
  func lookAlikes(_ cookie: String) {
    #expect(cookies(cookie).isEmpty)
    #expect(cookies("a=b; \(cookie); c=d").isEmpty)
  }

  @Test("Spelling in another case, white space before the equals sign, and a missing value change nothing")
  func oddities() {
    #expect(cookies("__HOST-Cordon=v") == [["__HOST-Cordon", "v"]])
    #expect(cookies("__Host-cordon") == [["__Host-cordon", ""]])
    #expect(cookies("__Host-cordon=") == [["__Host-cordon", ""]])
    #expect(cookies("__Host-cordon =v").count == 1)
    #expect(cookies("\t__Host-cordon=v  ;a=1") == [["__Host-cordon", "v"]])
    #expect(cookies("__Host-cordon=a=b==") == [["__Host-cordon", "a=b=="]])
    #expect(cookies("__Host-cordon=\"v\"") == [["__Host-cordon", "\"v\""]])
    #expect(cookies("", ";", ";;; ;", "=").isEmpty)
    #expect(cookies("; ;__Host-cordon=v;;") == [["__Host-cordon", "v"]])
  }

  @Test("A removed cookie takes the space before it and the semicolon after it along")
  func runs() {
    let read = readRequest("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1; __Host-cordon=v; b=2; __Host-cordon-x=w\r\n\r\n")
    #expect(read.ownCookieRuns == [" __Host-cordon=v;", " __Host-cordon-x=w"])
  }

  @Test("Cookies in long lines are found at every position of the semicolons")
  func semicolons() {
    for padding in 0..<20 {
      let filler = "a=" + String(repeating: "x", count: padding)
      #expect(cookies("\(filler);__Host-cordon=v;\(filler)") == [["__Host-cordon", "v"]], "\(padding)")
      #expect(cookies("\(filler):<=>__Host-cordon=v").isEmpty, "\(padding)")
    }
  }

  @Test("With another name, that family and the standard one are found, and nothing else")
  func anotherName() {
    for (name, other) in [("__Host-wiki", "__Host-cordon"), ("__Host-cordon-2", "__Host-cordon")] {
      let cookies = GatewayCookies(name: name, another: other)
      func isOurs(_ cookie: String) -> Bool {
        let bytes = Array(cookie.utf8)
        return cookies.isSet(by: 0..<bytes.count, bytes.span.bytes)
      }
      for ours in [name, other] {
        #expect(isOurs("\(ours)=v") && isOurs("\(ours)-last=v") && isOurs("\(ours.uppercased())=v"), "\(ours)")
        #expect(!isOurs("x\(ours)=v"), "\(ours)")
      }
      for foreign in ["__Host-wikix=v", "__Host-cordonx=v", "__Host-other=v", "_=v", ""] {
        #expect(!isOurs(foreign), "\(foreign)")
      }
    }
  }

  private func isSet(_ value: String) -> Bool {
    let bytes = Array(value.utf8)
    return GatewayCookies(name: "__Host-cordon").isSet(by: 0..<bytes.count, bytes.span.bytes)
  }

  @Test(
    "A Set-Cookie of our names is known",
    arguments: [
      "__Host-cordon=v", "__Host-cordon-attempt-1=v; Path=/", "__HOST-CORDON=v", "__Host-cordon =v",
      "  __Host-cordon=v",
      "__Host-cordon", "__Host-cordon; Path=/", "=__Host-cordon=v", " = __Host-cordon=v; Secure", "__Host-cordon=",
    ])
  func setCookie(_ value: String) { #expect(isSet(value)) }

  @Test(
    "A Set-Cookie of another name is the application's",
    arguments: ["", "=", ";", "a=b", "a=__Host-cordon=v", "__Host-cordonx=v", "a=b; __Host-cordon=v", "__Host-cord"])
  func otherSetCookie(_ value: String) { #expect(!isSet(value)) }
}
