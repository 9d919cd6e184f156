import Testing
import WebFormats

@Suite("Hosts, ports and authorities")
struct HostTests {
  // A span cannot be an argument of #expect.
  private func isLoopback(authority: String) -> Bool { Authority.isLoopback(Array(authority.utf8).span) }

  private func isWellFormed(_ text: String) -> Bool {
    let bytes = Array("<\(text)>".utf8)
    return Authority.isWellFormed(bytes.span.bytes, 1..<bytes.count - 1)
  }

  private func port(inSpan text: String) -> UInt16? { Port.parse(Array(text.utf8).span, from: 0) }

  @Test(
    "Loopback is localhost, every name below it, 127.0.0.0/8 and ::1, in any case and also IPv4-mapped",
    arguments: [
      "localhost", "LocalHost", "app.localhost", "a.b.LOCALHOST", "127.0.0.1", "127.255.3.4", "::1", "[::1]",
      "[0:0:0:0:0:0:0:1]", "::ffff:127.0.0.1", "[::FFFF:7f00:1]",
    ])
  func loopback(host: String) {
    #expect(Host.isLoopback(host.utf8))
    let authority = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[") ? "[\(host)]" : host
    #expect(isLoopback(authority: "\(authority):8080"))
  }

  @Test("In an authority an IPv6 address has brackets, and no other host has")
  func brackets() {
    #expect(Host.bracketed("2001:db8::1") == "[2001:db8::1]")
    #expect(Host.bracketed("192.0.2.1") == "192.0.2.1")
    #expect(Host.bracketed("app.example") == "app.example")
  }

  // The first five were loopback to one of three functions and not to the others.
  @Test(
    "A name or malformed address that only looks like loopback is not taken for it",
    arguments: [
      "127.evil.example", "127.1", "127.0.0.256", "127.0.0.1.example", "127.", "127.0.0.01", "0x7f.0.0.1",
      "localhost.example", "notlocalhost", "localhost.", "128.0.0.1", "0.0.0.0", "::", "[::2]", "::1%lo",
      "[127.0.0.1]", "::ffff:128.0.0.1", "", "[]", "[", "2130706433",
    ])
  func notLoopback(host: String) { #expect(!Host.isLoopback(host.utf8)) }

  @Test(
    "An authority is a host and perhaps a port, and is the same in lower case",
    arguments: [
      ("app.example.com", "app.example.com", nil), ("APP.Example:8443", "app.example", 8443),
      ("under_score-x:1", "under_score-x", 1), ("10.0.0.1:65535", "10.0.0.1", 65_535),
      ("[2001:DB8::1]", "[2001:db8::1]", nil), ("[::1]:80", "[::1]", 80),
    ] as [(String, String, UInt16?)])
  func authorities(text: String, host: String, port: UInt16?) throws {
    let authority = try #require(Authority(parsing: text.utf8))
    #expect(authority == Authority(host: Array(host.utf8), port: port))
    #expect(isWellFormed(text))
  }

  @Test(
    "An authority has no user information, no empty label or port, and no host that reads as another address",
    arguments: [
      "", ":80", "x:", "x:0", "x:080", "x:65536", "x:+5", "x:99999999999999999999", "x.", ".x", "a..b", "a b", "x%2ey",
      "u@x", "x/", "\u{E9}.example", "[::1", "[::1]x", "[x]", "[:::]", "[1.2.3.4]", "[1::2::3]", "1.2.3", "0x7f.1",
      "0X7F.1", "256.1.1.1", "2130706433", "127.0.0.01", "a:1:2", String(repeating: "a", count: 254),
    ])
  func notAuthorities(text: String) { #expect(Authority(parsing: text.utf8) == nil) }

  @Test("A request parser takes what has the characters of an authority, which no strict reader need match")
  func wellFormed() {
    for text in ["x.", "a..b", "x:0", "x:080", "[::]", "[1:2:3]:00443", "256.1.1.1"] {
      #expect(isWellFormed(text), "\(text)")
    }
    for text in ["", "x:", "x:65536", "x:123456", "u@x", "a b", "x~", "[:]", "[::1", "[::1]x", "[g::]", "x:1:2", "é"] {
      #expect(!isWellFormed(text), "\(text)")
    }
    #expect(isWellFormed(String(repeating: "a", count: 262)) && !isWellFormed(String(repeating: "a", count: 263)))
  }

  @Test("A port is 1 to 65535 without leading zeros, or 0 where that is allowed")
  func ports() {
    #expect(Port.parse("1".utf8) == 1 && Port.parse("65535".utf8) == 65_535)
    for text in ["", "0", "00", "01", "65536", "100000", "+1", "-1", "1 ", "٣"] {
      #expect(Port.parse(text.utf8) == nil, "\(text)")
      #expect(port(inSpan: text) == nil, "\(text)")
    }
    #expect(Port.parse("0".utf8, allowsZero: true) == 0 && Port.parse("00".utf8, allowsZero: true) == nil)
    for number in 1...65_535 as ClosedRange<UInt16> {
      guard port(inSpan: "\(number)") == number else {
        Issue.record("\(number)")
        return
      }
    }
  }

  @Test(
    "Hosts are domain names, addresses in any form, localhost, or malformed",
    arguments: [
      ("app.example.com", .domain), ("EXAMPLE.com", .domain), ("localhost", .localhost), ("a.Localhost", .localhost),
      ("127.0.0.1", .address), ("0x7f.1", .address), ("0X7f.1", .address), ("2130706433", .address),
      ("[::1]", .address),
      ("intranet", .malformed), ("", .malformed), ("a..b", .malformed), ("-a.b", .malformed), ("a_b.c", .malformed),
      ("x.", .malformed),
    ] as [(String, HostKind)])
  func kinds(host: String, kind: HostKind) { #expect(HostKind(host.utf8) == kind) }
}
