import AccessPolicy
import Testing

@Suite("Where the browser may return to")
struct ReturnTargetTests {
  @Test(
    "A path on our origin is kept, with its query and fragment",
    arguments: [
      "/", "/x", "/a/b?c=d&e=f", "/a?next=//evil", "/a?u=https://x/", "/a#top", "/a?x=%0A", "/gr%C3%BC%C3%9Fe",
      "/a;jsessionid=1",
      "/user%40x", "/%7Euser/", "/.auth/session", "/.auth", "/.authorize", "/x/.auth/callback", "/a?b?c#d?e",
    ])
  func kept(target: String) throws {
    #expect(try parse(target) == target)
  }

  @Test(
    "An absolute URL of exactly our origin is its path",
    arguments: [
      ("https://app.example.com", "/"), ("https://app.example.com/", "/"), ("https://app.example.com/x?y", "/x?y"),
      ("HTTPS://APP.example.com/x", "/x"),
    ])
  func absolute(target: String, path: String) throws {
    #expect(try parse(target) == path)
  }

  @Test(
    "Everything else becomes the front page",
    arguments: [
      "", "x", "//evil", "///evil", "/\\evil", "\\\\evil", "/a\\b", "/%09/evil", "/\t/evil", "\t//evil", " /x", "/x y",
      "/x\r\nSet-Cookie: a",
      "/x\n", "/\u{0}", "https:evil", "https:/evil", "https://evil", "https:///evil", "javascript:alert(1)",
      "JavaScript:alert(1)",
      "data:text/html,x", "u@evil", "https://app.example.com@evil", "https://app.example.com.evil/",
      "https://app.example.com:444/x",
      "https://app.example.comevil/", "https://app.example.com//evil", "https://app.example.com\\evil",
      "http://app.example.com/x",
      "https://u@app.example.com/", "//app.example.com/x", "/\u{2215}evil", "\u{FF0F}\u{FF0F}evil", "/\u{FF0F}evil",
      "/caf\u{E9}",
      "/..//evil", "/../x", "/./x", "/a/..", "/%2e%2e/x", "/%2f/evil", "/%2Fevil", "/%5cevil", "/a//b", "/%0d%0ax",
      "/%00", "/%", "/%zz",
      "/%252f", "/%EF%BC%8Fevil", "/%c0%af", "?x", "#x", "/.auth/authorize", "/.auth/authorize?return_to=/",
      "/.auth/callback",
      "/.auth/sign-out", "/.auth/sign-in?return_to=/x", "/.AUTH/Authorize", "/.auth/authorize/", "/.auth/callback;x",
      "/.auth/sign-out#x",
      "https://app.example.com/.auth/callback", "/.auth/native", "/.auth/notifications",
    ])
  func refused(target: String) throws {
    #expect(try parse(target) == "/")
  }

  @Test("It is at most 2,048 bytes long")
  func length() throws {
    let longest = "/" + String(repeating: "x", count: ReturnTarget.maximumLength - 1)
    #expect(try parse(longest) == longest)
    #expect(try parse(longest + "x") == "/")
  }

  @Test("Every byte that is not printable ASCII refuses it, wherever it stands")
  func bytes() throws {
    let origin = try PublicOrigin(parsing: "https://app.example.com")
    for byte in UInt8.min...UInt8.max where byte <= 0x20 || byte >= 0x7F || byte == 0x5C {
      for target in [[0x2F, byte], [0x2F, 0x61, 0x3F, byte], [byte, 0x2F]] as [[UInt8]] {
        #expect(ReturnTarget(parsing: target, origin: origin, prefix: "/.auth") == .frontPage, "\(target)")
      }
    }
  }

  @Test("As a query value it survives a round trip and holds nothing that ends a value")
  func queryValue() throws {
    let origin = try PublicOrigin(parsing: "https://app.example.com")
    let target = ReturnTarget(parsing: Array("/a?b=c&d=%20+\"'#e".utf8), origin: origin, prefix: "/.auth")
    #expect(target.queryValue == "/a%3Fb%3Dc%26d%3D%2520%2B%22%27%23e")
  }

  private func parse(_ target: String) throws -> String {
    let origin = try PublicOrigin(parsing: "https://app.example.com")
    return ReturnTarget(parsing: Array(target.utf8), origin: origin, prefix: "/.auth").path
  }
}
