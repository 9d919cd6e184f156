import HTTPWire
import NIOCore
import RandomTesting
import Testing

@testable import DataPlane

// Cases: redirects to the upstream's own address and to http: of ours, prefixes of paths, Refresh, cookies, hostile
// values; the whole head for HTTP/1.1 and HTTP/2.

@Suite("Addresses in responses")
struct AddressRewritingTests {
  private func rewriting(
    _ upstream: UpstreamRewriting, scheme: String = "https", authority: String = "app.example.com"
  ) -> AddressRewriting {
    AddressRewriting(
      upstream, scheme: Array(scheme.utf8), authority: Array(authority.utf8), ownPathPrefix: Array("/.auth".utf8))
  }

  private func written(_ field: String, _ value: String, _ rewriting: AddressRewriting) -> String {
    let bytes = Array("HTTP/1.1 302 Found\r\n\(field): \(value)\r\n\r\n".utf8)
    var head = ResponseHead()
    let parser = ResponseHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 0))
    guard parser.parse(bytes.span.bytes, into: &head) == .complete, let line = head.fields.lines.first else {
      return "malformed"
    }
    return rewriting.response(line, bytes.span.bytes).map { String(decoding: $0, as: UTF8.self) } ?? value
  }

  private func location(_ value: String, _ rewriting: AddressRewriting) -> String {
    written("Location", value, rewriting)
  }

  @Test(
    "A redirect to http: of our own host, or to the upstream's address, leads to the origin of the request",
    arguments: [
      ("http://app.example.com/x?y#z", "https://app.example.com/x?y#z"),
      ("http://app.example.com", "https://app.example.com"),
      ("http://app.example.com?x", "https://app.example.com?x"),
      ("http://app.example.com:80/x", "https://app.example.com/x"),
      ("HTTP://APP.EXAMPLE.COM/X", "https://app.example.com/X"),
      ("http://app.example.com:443/x", "https://app.example.com/x"),
      ("http://127.0.0.1:3000/b", "https://app.example.com/b"),
      ("https://127.0.0.1:3000/b", "https://app.example.com/b"),
      ("//127.0.0.1:3000/b", "https://app.example.com/b"),
      ("http://[2001:db8::1]:8080/b", "https://app.example.com/b"),
      // Already right, or another's.
      ("https://app.example.com/x", "https://app.example.com/x"), ("/x", "/x"), ("x", "x"), ("?x", "?x"), ("", ""),
      ("//app.example.com/x", "//app.example.com/x"),
      ("http://app.example.com:8080/x", "http://app.example.com:8080/x"),
      ("http://127.0.0.1/b", "http://127.0.0.1/b"), ("http://127.0.0.1:30000/b", "http://127.0.0.1:30000/b"),
      ("http://evil.example/", "http://evil.example/"), ("ftp://app.example.com/", "ftp://app.example.com/"),
      ("javascript:alert(1)", "javascript:alert(1)"), ("mailto:a@app.example.com", "mailto:a@app.example.com"),
    ])
  func origins(_ value: String, _ expected: String) {
    #expect(location(value, rewriting(UpstreamRewritingTests.rewriting())) == expected)
    #expect(written("Content-Location", value, rewriting(UpstreamRewritingTests.rewriting())) == expected)
  }

  @Test(
    "An address that browsers and servers read differently stays as it is",
    arguments: [
      "http://app.example.com@evil.example/", "http://app.example.com:80@evil.example/",
      "http://app.example.com\\@evil.example/", "http://app.example.com\\.evil.example/",
      "http://127.0.0.1:3000\\@evil.example/", "http://evil.example\\@127.0.0.1:3000/", "http:/app.example.com/",
      "http:app.example.com/", "http:///app.example.com/", "http://", "//", "///",
      "http://app.example.com.evil.example/",
      "http://app.example.com%2eevil/", "http://app.example.com:/x", "http://app.example.com:080/x",
      "http://[::1", "http://\u{FF41}pp.example.com/", "ht\ttp://app.example.com/", "http://app.example.com\t/",
      "/\\evil.example/", "http://127.1:3000/", "http://0x7f.0.0.1:3000/",
    ])
  func hostile(_ value: String) {
    for upstream in [UpstreamRewritingTests.rewriting(), UpstreamRewritingTests.rewriting(prefix: "/reports")] {
      #expect(location(value, rewriting(upstream)) == value)
    }
  }

  @Test("An upstream with a Host of its own may name itself by it")
  func ownHost() {
    let upstream = rewriting(UpstreamRewritingTests.rewriting(host: "app.internal"))
    for value in ["http://app.internal/x", "https://app.internal/x", "http://app.internal:3000/x"] {
      #expect(location(value, upstream) == "https://app.example.com/x", "\(value)")
    }
    #expect(location("http://app.internal:9/x", upstream) == "http://app.internal:9/x")
    let withPort = rewriting(UpstreamRewritingTests.rewriting(host: "app.internal:9"))
    #expect(location("http://app.internal:9/x", withPort) == "https://app.example.com/x")
    #expect(location("http://app.internal/x", withPort) == "http://app.internal/x")
  }

  @Test("A public origin over http:, with a port, or unknown")
  func otherOrigins() {
    let upstream = UpstreamRewritingTests.rewriting()
    let cleartext = rewriting(upstream, scheme: "http", authority: "localhost:8080")
    #expect(location("http://127.0.0.1:3000/x", cleartext) == "http://localhost:8080/x")
    #expect(location("http://localhost/x", cleartext) == "http://localhost/x")
    #expect(location("https://localhost:8080/x", cleartext) == "https://localhost:8080/x")
    let port = rewriting(upstream, authority: "app.example.com:8443")
    #expect(location("http://app.example.com:8443/x", port) == "https://app.example.com:8443/x")
    #expect(location("http://app.example.com/x", port) == "https://app.example.com:8443/x")
    // A request of HTTP/1.0 without Host.
    let unknown = rewriting(upstream, authority: "")
    #expect(location("http://127.0.0.1:3000/x", unknown) == "http://127.0.0.1:3000/x")
  }

  @Test("With rewrite_redirects = false origins stay, and the prefix is still given back")
  func off() {
    let upstream = rewriting(UpstreamRewritingTests.rewriting(prefix: "/reports", redirects: false))
    for value in ["http://127.0.0.1:3000/x", "http://evil.example/x"] { #expect(location(value, upstream) == value) }
    #expect(location("http://app.example.com/x", upstream) == "http://app.example.com/reports/x")
    #expect(location("/x", upstream) == "/reports/x")
  }

  @Test(
    "Paths get the prefix back unless they begin with it",
    arguments: [
      ("/x", "/reports/x"), ("/", "/reports/"), ("/reports/x", "/reports/x"), ("/reports", "/reports"),
      ("/reports?x", "/reports?x"), ("/reportsx", "/reports/reportsx"), ("/x?y=/reports", "/reports/x?y=/reports"),
      ("http://app.example.com/x", "https://app.example.com/reports/x"),
      ("https://app.example.com/x", "https://app.example.com/reports/x"),
      ("https://app.example.com", "https://app.example.com/reports"),
      ("https://app.example.com?x", "https://app.example.com/reports?x"),
      ("https://app.example.com/reports/x", "https://app.example.com/reports/x"),
      ("//app.example.com/x", "//app.example.com/reports/x"),
      ("http://127.0.0.1:3000/x", "https://app.example.com/reports/x"),
      // The gateway's own pages are not paths of the application.
      ("/.auth/sign-out", "/.auth/sign-out"), ("/.authors", "/reports/.authors"),
      ("x", "x"), ("?x", "?x"), ("../x", "../x"), ("//evil.example/x", "//evil.example/x"),
      ("https://evil.example/x", "https://evil.example/x"),
    ])
  func prefix(_ value: String, _ expected: String) {
    #expect(location(value, rewriting(UpstreamRewritingTests.rewriting(prefix: "/reports"))) == expected)
  }

  @Test(
    "Refresh is rewritten in all its forms",
    arguments: [
      ("5; url=/x", "5; url=/reports/x"), ("0;URL=http://127.0.0.1:3000/x", "0;URL=https://app.example.com/reports/x"),
      ("0, url = '/x'; y", "0, url = '/reports/x'; y"), ("1.5; \"/x\"", "1.5; \"/reports/x\""),
      ("0; /x", "0; /reports/x"), ("0;url=\"/x", "0;url=\"/reports/x"), ("5", "5"), ("5;", "5;"), ("; url", "; url"),
      ("0;url=", "0;url="), ("0;url=\"", "0;url=\""), ("x;url=/x", "x;url=/x"), ("0;urll=/x", "0;urll=/x"),
      ("0; url=https://evil.example/", "0; url=https://evil.example/"), ("", ""),
    ])
  func refresh(_ value: String, _ expected: String) {
    #expect(written("Refresh", value, rewriting(UpstreamRewritingTests.rewriting(prefix: "/reports"))) == expected)
  }

  @Test(
    "The Path of a cookie gets the prefix back",
    arguments: [
      ("a=b; Path=/", "a=b; Path=/reports"), ("a=b; path=/x; HttpOnly", "a=b; path=/reports/x; HttpOnly"),
      ("a=b;Path = /x ;Secure", "a=b;Path =/reports/x;Secure"), ("a=b; Path=/reports", "a=b; Path=/reports"),
      ("a=b; Path=/reports/x", "a=b; Path=/reports/x"), ("a=b; Path=/reportsx", "a=b; Path=/reports/reportsx"),
      ("a=b; Path=x", "a=b; Path=x"), ("a=b; Path=", "a=b; Path="), ("a=b; Path", "a=b; Path"), ("a=b", "a=b"),
      ("a=Path=/; x", "a=Path=/; x"), ("Path=/; x", "Path=/; x"), ("", ""), (";Path=/", ";Path=/reports"),
      ("a=b; Path=/x; Path=/y", "a=b; Path=/reports/x; Path=/reports/y"), ("a=b; Path=\"/\"", "a=b; Path=\"/\""),
      ("__Host-a=b; Path=/; Secure", "__Host-a=b; Path=/; Secure"), ("__HOST-a=b; Path=/", "__HOST-a=b; Path=/"),
      ("__Secure-a=b; Path=/", "__Secure-a=b; Path=/reports"),
    ])
  func cookies(_ value: String, _ expected: String) {
    #expect(written("Set-Cookie", value, rewriting(UpstreamRewritingTests.rewriting(prefix: "/reports"))) == expected)
    #expect(written("Set-Cookie", value, rewriting(UpstreamRewritingTests.rewriting())) == value)
  }

  @Test(
    "A cookie loses a Domain of the upstream's own Host that the requested host is not in",
    arguments: [
      ("a=b; Domain=app.internal", "a=b"), ("a=b; domain = .APP.internal ; Path=/; HttpOnly", "a=b; Path=/; HttpOnly"),
      ("a=b; Path=/; Domain=internal; Secure", "a=b; Path=/; Secure"), ("a=b ;Domain=app.internal", "a=b"),
      ("a=b; Domain=example.com; Domain=app.internal; Secure", "a=b; Secure"),
      ("__Secure-a=b; Secure; Domain=app.internal", "__Secure-a=b; Secure"), (";Domain=app.internal", ""),
      // An empty one is ignored, or means no domain: by either reading browsers take the cookie without them.
      ("a=b; Domain=app.internal; Domain=", "a=b"), ("a=b; Domain=; Domain=app.internal; Secure", "a=b; Secure"),
      ("a=b; Domain=app.internal; Domain= ; Path=/", "a=b; Path=/"),
      // The last one counts, and browsers decide about it.
      ("a=b; Domain=app.internal; Domain=example.com", "a=b; Domain=app.internal; Domain=example.com"),
      ("a=b; Domain=example.com; Domain=", "a=b; Domain=example.com; Domain="), ("a=b; Domain=", "a=b; Domain="),
      ("a=b; Domain=app.example.com", "a=b; Domain=app.example.com"), ("a=b; Domain=com", "a=b; Domain=com"),
      ("a=b; Domain=.example.com", "a=b; Domain=.example.com"), ("a=b; Domain=evil.test", "a=b; Domain=evil.test"),
      ("a=b; Domain=x.app.internal", "a=b; Domain=x.app.internal"),
      ("a=b; Domain=pp.internal", "a=b; Domain=pp.internal"),
      ("a=b; Domain=\"app.internal\"", "a=b; Domain=\"app.internal\""), ("a=b; Domain", "a=b; Domain"),
      ("a=b; Domain=..app.internal", "a=b; Domain=..app.internal"), ("a=b; Domain=.", "a=b; Domain=."),
      ("a=b; Domain=app.internal:80", "a=b; Domain=app.internal:80"),
      ("Domain=app.internal; x", "Domain=app.internal; x"),
      ("__Host-a=b; Path=/; Domain=app.internal", "__Host-a=b; Path=/; Domain=app.internal"), ("a=b", "a=b"), ("", ""),
    ])
  func cookieDomains(_ value: String, _ expected: String) {
    for host in ["app.internal", "App.Internal:8443"] {
      for redirects in [true, false] {
        let upstream = rewriting(UpstreamRewritingTests.rewriting(host: host, redirects: redirects))
        #expect(written("Set-Cookie", value, upstream) == expected, "\(host)")
      }
    }
    let unset = rewriting(UpstreamRewritingTests.rewriting())
    #expect(written("Set-Cookie", value, unset) == value)
    // A request of HTTP/1.0 without Host.
    let unknown = rewriting(UpstreamRewritingTests.rewriting(host: "app.internal"), authority: "")
    #expect(written("Set-Cookie", value, unknown) == value)
  }

  @Test("A cookie keeps a Domain that the requested host and the upstream's own Host share")
  func sharedCookieDomain() {
    let upstream = UpstreamRewritingTests.rewriting(host: "wiki.example.com", prefix: "/wiki")
    for authority in ["app.example.com", "APP.example.com:8443", "example.com"] {
      let rewriting = rewriting(upstream, authority: authority)
      #expect(written("Set-Cookie", "a=b; Domain=example.com", rewriting) == "a=b; Domain=example.com", "\(authority)")
      #expect(
        written("Set-Cookie", "a=b; Path=/; Domain=wiki.example.com", rewriting) == "a=b; Path=/wiki", "\(authority)")
    }
    let other = rewriting(upstream, authority: "otherexample.com")
    #expect(written("Set-Cookie", "a=b; Domain=example.com; Path=/x", other) == "a=b; Path=/wiki/x")
  }

  @Test("Other fields are never looked at")
  func others() {
    let upstream = rewriting(UpstreamRewritingTests.rewriting(prefix: "/reports"))
    for field in ["X-Location", "Link", "Content-Type"] { #expect(written(field, "/x", upstream) == "/x") }
    for (field, concerns) in [
      ("Content-Type", false), ("Location", true), ("Content-Location", true), ("Refresh", true), ("Set-Cookie", true),
    ] {
      let bytes = Array("HTTP/1.1 200 OK\r\n\(field): /x\r\n\r\n".utf8)
      var head = ResponseHead()
      let parser = ResponseHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 0))
      let outcome = parser.parse(bytes.span.bytes, into: &head)
      let found = UpstreamRewriting.concerns(head.fields)
      #expect(outcome == .complete && found == concerns, "\(field)")
    }
  }

  @Test("Rewriting twice changes nothing more, and never the number of lines, for any value")
  func property() {
    let pieces = [
      "http:", "https:", "//", "/", "app.example.com", "127.0.0.1:3000", "evil.example", "@", "\\", "?", "#", ":80",
      "/reports", "/.auth/", "x", "app.internal", "Domain", "; Domain=app.internal", "%0d%0a", "\t", ";", "=", "url",
      "Path", "[", "]", "\"", "'", "5", ",", " ", "é",
    ]
    var random = SeededNumbers(seed: 23)
    let upstreams = [
      UpstreamRewritingTests.rewriting(), UpstreamRewritingTests.rewriting(prefix: "/reports"),
      UpstreamRewritingTests.rewriting(host: "app.internal"),
      UpstreamRewritingTests.rewriting(host: "app.internal", prefix: "/reports"),
    ]
    var rewritten = 0
    for round in 0..<20_000 {
      let joined: String = (0..<Int.random(in: 0...7, using: &random)).map { _ in
        pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }.joined()
      let value = String(joined.drop { $0 == " " || $0 == "\t" })
      let field = ["Location", "Refresh", "Set-Cookie", "Content-Location"][round % 4]
      let rewriting = rewriting(upstreams[round / 4 % upstreams.count])
      let once = written(field, value, rewriting)
      guard once != "malformed" else { continue }
      if once != value { rewritten += 1 }
      #expect(!once.utf8.contains { $0 == 0x0D || $0 == 0x0A }, "\(value)")
      #expect(written(field, once, rewriting) == once, "\(field): \(value)")
      // No origin is given to what named another.
      if ["app.example.com", "127.0.0.1:3000", "app.internal"].allSatisfy({ !value.contains($0) }) {
        #expect(!once.contains("app.example.com"), "\(field): \(value)")
      }
    }
    #expect(rewritten > 50)
  }

  @Test("A whole head has the rewritten lines in their places, for HTTP/1.1 and for HTTP/2")
  func heads() {
    let rewriting = rewriting(UpstreamRewritingTests.rewriting(prefix: "/reports"))
    let text =
      "HTTP/1.1 302 Found\r\nA: 1\r\nLocation : /x\r\nSet-Cookie: __Host-cordon=evil; Path=/\r\n"
      + "Set-Cookie: a=b; Path=/\r\nB: 2\r\nContent-Length: 0\r\n\r\n"
    let bytes = Array(text.utf8)
    var head = ResponseHead()
    let parser = ResponseHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 0))
    let outcome = parser.parse(bytes.span.bytes, into: &head)
    #expect(outcome == .complete)
    var buffer = ByteBuffer()
    let rules = ForwardingRules(reservedNames: [], sessionCookieName: "__Host-cordon", scheme: "https")
    let context = ResponseForwarding.Context(addresses: rewriting)
    ResponseForwarding.write(
      head, bytes.span.bytes, rules: rules, context: context, on: ResponseForwarding.Hop(connection: .implied),
      to: &buffer)
    #expect(
      String(buffer: buffer)
        == "HTTP/1.1 302 Found\r\nA: 1\r\nLocation: /reports/x\r\nSet-Cookie: a=b; Path=/reports\r\nB: 2\r\n"
        + "Content-Length: 0\r\n\r\n")
    var fields = HTTP2Fields()
    ResponseForwarding.write(head, bytes.span.bytes, rules: rules, context: context, to: &fields)
    #expect(fields.count == 6)
  }
}
