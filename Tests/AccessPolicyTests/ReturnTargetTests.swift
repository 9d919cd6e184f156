import AccessPolicy
import Testing

@Suite("The address that the browser may return to")
struct ReturnTargetTests {
  @Test(
    "A path on our origin is kept, with its query and fragment",
    arguments: [
      "/", "/x", "/a/b?c=d&e=f", "/a?next=//evil", "/a?u=https://x/", "/a#top", "/a?x=%0A", "/gr%C3%BC%C3%9Fe",
      "/a;jsessionid=1", "/open?file=\\\\server\\share", "/a?\\", "/a?//\\evil#\\",
      "/user%40x", "/%7Euser/", "/.auth/session", "/.auth", "/.authorize", "/x/.auth/callback", "/a?b?c#d?e",
      // Read in more than one way by servers, but never as another origin.
      "/projects/group%2Fname/issues", "/wiki//Main_Page?x=1", "/a//b", "/a///b//", "/a/%5Cb", "/faq/why%3F",
      "/c%23/intro", "/a%252Fb", "/a%25252Fb", "/100%25", "/100%2525", "/gr%FCn", "/%C0%20propos", "/a;x//b", "/;x",
      "/a/%2F", "/%61bc//d", "/a%E2%80%A6", "/a/100%EF%BC%85",
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
    "A return address that is not a plain path of this origin becomes the front page",
    arguments: [
      "", "x", "//evil", "///evil", "/\\evil", "\\\\evil", "/a\\b", "/%09/evil", "/\t/evil", "\t//evil", " /x", "/x y",
      "/x\r\nSet-Cookie: a",
      "/x\n", "/\u{0}", "https:evil", "https:/evil", "https://evil", "https:///evil", "javascript:alert(1)",
      "JavaScript:alert(1)",
      "data:text/html,x", "u@evil", "https://app.example.com@evil", "https://app.example.com.evil/",
      "https://app.example.com:444/x",
      "https://app.example.comevil/", "https://app.example.com//evil", "https://app.example.com\\evil",
      "http://app.example.com/x", "https://app.example.org/x", "/\\evil?x", "/a\\b#x",
      "https://app.example.com\\evil?x",
      "https://u@app.example.com/", "//app.example.com/x", "/\u{2215}evil", "\u{FF0F}\u{FF0F}evil", "/\u{FF0F}evil",
      "/caf\u{E9}",
      "/..//evil", "/../x", "/./x", "/a/..", "/%2e%2e/x", "/%2f/evil", "/%2Fevil", "/%5cevil", "/%0d%0ax",
      "/%00", "/%", "/%zz",
      "/%252f", "/%25252fevil", "/%252525252fevil", "/%25%32%66evil", "/%25%32%66/x%FC", "/%255cevil", "/%253b/evil",
      "/;//evil", "/;/evil", "/%3b/evil", "/;x//evil", "/a/%EF%BC%8Fevil", "/.../%EF%BC%8Fevil", "/a/%c0%af",
      "/%E2%80%A5/evil", "/a%25%EF%BC%92f",
      "/%E0%80%af",
      "/a%2f..%2f", "/a/%252e%252e//evil", "/a/%252e%252e%252f", "/a%250d%250a", "/a%2500", "/a%25u002e",
      "/a/..%2f/evil",
      "/a/..;/evil", "/a%25252525252Fb", "/..%5c/evil", "/%EF%BC%8Fevil", "/%c0%af", "?x", "#x", "/.auth/authorize",
      "/.auth/authorize?return_to=/",
      "/.auth/callback",
      "/.auth/sign-out", "/.auth/sign-in?return_to=/x", "/.AUTH/Authorize", "/.auth/authorize/", "/.auth/callback;x",
      "/.auth//sign-out", "/.auth/%73ign-out", "/.auth%2Fcallback", "/.auth/sign-out#x",
      "https://app.example.com/.auth/callback", "/.auth/native", "/.auth/notifications",
    ])
  func refused(target: String) throws {
    #expect(try parse(target) == "/")
  }

  @Test("For any combination of separators, escapes and names, a browser and a decoding server stay on our origin")
  func combinations() throws {
    let pieces = [
      "/", "//", "\\", "%2f", "%5C", "%252F", "%25252f", "%25%32%46", ";", "%3b", ".", "..", "%2e", "%252e", "a",
      "evil.example",
      "%09", "%c0%af", "%EF%BC%8F", "@", ":", "?", "#", "%",
    ]
    for first in pieces {
      for second in pieces {
        for third in pieces {
          let target = "/\(first)\(second)\(third)evil.example/x"
          var path = try parse(target)
          #expect(path == "/" || path == target)
          // Decoded as often as somebody might, its path begins with one slash, and no segment leads up.
          path = String(path.prefix { $0 != "?" && $0 != "#" })
          for _ in 0..<4 {
            let bytes = Array(path.utf8)
            #expect(bytes.count < 2 || bytes[1] != 0x2F && bytes[1] != 0x5C, "\(target) as \(path)")
            #expect(!path.split(separator: "/").contains(".."), "\(target) as \(path)")
            path = String(decoding: decoded(bytes), as: UTF8.self)
          }
        }
      }
    }
  }

  private func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let digits = bytes[(index + 1)...].prefix(2)
      if bytes[index] == 0x25, digits.count == 2, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
        result.append(byte)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  @Test("A return address that is longer than 2,048 bytes becomes the front page")
  func length() throws {
    let longest = "/" + String(repeating: "x", count: ReturnTarget.maximumLength - 1)
    #expect(try parse(longest) == longest)
    #expect(try parse(longest + "x") == "/")
  }

  @Test("Every byte that is not printable ASCII refuses it, wherever it stands; a backslash does outside of the query")
  func bytes() throws {
    let origin = try PublicOrigin(parsing: "https://app.example.com")
    for byte in UInt8.min...UInt8.max where byte <= 0x20 || byte >= 0x7F || byte == 0x5C {
      for target in [[0x2F, byte], [0x2F, 0x61, 0x3F, byte], [byte, 0x2F]] as [[UInt8]] {
        let isKept = byte == 0x5C && target.contains(0x3F)
        let path = ReturnTarget(parsing: target, origin: origin, prefix: "/.auth").path
        #expect(path == (isKept ? "/a?\\" : "/"), "\(target)")
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
