import HTTPWire
import NIOCore
import Testing

@testable import DataPlane

// Cases: a Host of the upstream's own, a removed path prefix, removed headers, Destination; the head that reviews see;
// hostile paths.

@Suite("Requests rewritten for one upstream")
struct UpstreamRewritingTests {
  private let rules = ForwardingRules(
    reservedNames: ["X-Forwarded-User"], sessionCookieName: "__Host-cordon", scheme: "https")

  static func rewriting(
    host: String? = nil, prefix: String? = nil, receivesScriptName: Bool = false, removed: [String] = [],
    redirects: Bool = true, tls: Bool = false
  ) -> UpstreamRewriting {
    UpstreamRewriting(
      host: host, prefix: prefix, receivesScriptName: receivesScriptName, removedNames: removed,
      rewritesRedirects: redirects, usesTLS: tls, addresses: [("127.0.0.1", 3_000), ("2001:db8::1", 8_080)])
  }

  private func forward(_ text: String, _ upstream: UpstreamRewriting, trusted: Bool = false) -> [String] {
    forwarded(text, rules: rules, trusted: trusted, upstream: upstream).split(separator: "\r\n").map(String.init)
  }

  @Test(
    "Host is the upstream's, X-Forwarded-Host as received",
    arguments: [
      "GET /a?b HTTP/1.1\r\nHost: app.example.com\r\nA: b\r\n\r\n",
      "GET /a?b HTTP/1.1\r\nA: b\r\nhost: app.example.com\r\n\r\n",
      "GET http://app.example.com/a?b HTTP/1.1\r\nHost: other\r\nA: b\r\n\r\n",
      "GET /a?b HTTP/1.0\r\nHost: app.example.com\r\nA: b\r\n\r\n",
    ])
  func host(_ request: String) {
    let lines = forward(request, Self.rewriting(host: "app.internal:81"))
    #expect(lines[0] == "GET /a?b HTTP/1.1")
    #expect(lines.filter { $0.lowercased().hasPrefix("host:") } == ["Host: app.internal:81"])
    #expect(lines.contains("X-Forwarded-Host: app.example.com") && lines.contains("A: b"))
  }

  @Test("An HTTP/1.0 request without Host gets the upstream's")
  func noHost() {
    let lines = forward("GET / HTTP/1.0\r\nA: b\r\n\r\n", Self.rewriting(host: "app.internal"))
    #expect(lines[1] == "Host: app.internal" && lines.contains("X-Forwarded-Host: "))
  }

  @Test(
    "The prefix is removed from the path and named in a header",
    arguments: [
      ("/reports/x/y?q=/reports", "/x/y?q=/reports"), ("/reports", "/"), ("/reports/", "/"), ("/reports?q", "/?q"),
      ("/reports/reports/x", "/reports/x"), ("/reports;jsessionid=1", "/;jsessionid=1"),
      ("http://a/reports/x", "/x"), ("http://a/reports?q", "/?q"),
    ])
  func prefix(_ target: String, _ sent: String) {
    for version in ["HTTP/1.1", "HTTP/1.0"] {
      let lines = forward(
        "GET \(target) \(version)\r\nHost: a\r\nX-Forwarded-Prefix: /evil\r\nx_forwarded_prefix: /evil\r\n\r\n",
        Self.rewriting(prefix: "/reports"), trusted: true)
      #expect(lines[0] == "GET \(sent) HTTP/1.1")
      #expect(lines.filter { $0.contains("refix") } == ["X-Forwarded-Prefix: /reports"])
      #expect(lines.filter { $0.hasPrefix("Host:") } == ["Host: a"])
    }
  }

  @Test("The server as a whole has no prefix")
  func asterisk() {
    #expect(
      forward("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", Self.rewriting(prefix: "/reports"))[0] == "OPTIONS * HTTP/1.1")
  }

  @Test(
    "A path outside of the prefix is told apart, in every spelling, and one of which an authority would remain",
    arguments: [
      "/", "/report", "/reportsx", "/REPORTS/x", "/%72eports/x", "/reports%2Fx", "/reports\\x", "//reports/x",
      "/./reports/x", "/reports%3bx", "", "/reports//", "/reports//x/admin", "/reports///x/admin", "/reports/\\x",
      "/reports/%2Fx", "/reports/%2fx", "/reports/%5Cx", "/reports/%5cx",
    ])
  func outside(_ path: String) {
    let bytes = Array("[\(path)]".utf8)
    let upstream = Self.rewriting(prefix: "/reports")
    let stripped = upstream.strippedPath(bytes.span.bytes, 1..<bytes.count - 1)
    #expect(stripped == nil)
  }

  @Test("Removed headers go in every spelling, known fields among them, and nothing else")
  func removed() {
    let upstream = Self.rewriting(removed: ["X-Debug", "Cookie", "Authorization", "User-Agent", "Origin"])
    let lines = forward(
      "POST / HTTP/1.1\r\nHost: a\r\nX-Debug: 1\r\nx_debug: 1\r\nX.DEBUG: 1\r\nCookie: a=1\r\nAuthorization: x\r\n"
        + "User-Agent: x\r\nOrigin: x\r\nX-Debugger: 2\r\nContent-Length: 3\r\nAccept: y\r\n\r\n", upstream)
    let kept = lines.dropFirst().filter { !$0.hasPrefix("X-Forwarded-") && !$0.hasPrefix("X-Request-Id") }
    #expect(Array(kept) == ["Host: a", "X-Debugger: 2", "Content-Length: 3", "Accept: y"])
  }

  @Test("A header of the same name that the gateway sends stays")
  func ownStays() {
    let identity = SerializedIdentityHeaders([("Authorization", Array("Basic eDp5".utf8))])
    let text = forwarded(
      "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer evil\r\n\r\n", rules: rules, identity: identity,
      upstream: Self.rewriting(removed: ["Authorization"]))
    #expect(text.contains("\r\nAuthorization: Basic eDp5\r\n") && !text.contains("evil"))
  }

  @Test(
    "Destination names the resource as the upstream knows it",
    arguments: [
      ("https://app.example.com/dav/x%20y?z", "http://app.example.com/dav/x%20y?z"),
      ("HTTPS://APP.example.com:443/dav/x", "http://app.example.com/dav/x"),
      ("http://app.example.com/dav/x", "http://app.example.com/dav/x"),
      ("/dav/x", "/dav/x"),
      ("https://app.example.com:8443/dav/x", "https://app.example.com:8443/dav/x"),
      ("https://evil.example/dav/x", "https://evil.example/dav/x"),
      ("https://app.example.com@evil.example/x", "https://app.example.com@evil.example/x"),
      ("https://app.example.com\\@evil.example/x", "https://app.example.com\\@evil.example/x"),
      ("nonsense", "nonsense"),
    ])
  func destination(_ value: String, _ sent: String) {
    let lines = forward(
      "COPY /dav/a HTTP/1.1\r\nHost: app.example.com\r\nDestination: \(value)\r\nOverwrite: F\r\n\r\n", Self.rewriting()
    )
    #expect(lines[2] == "Destination: \(sent)" && lines[3] == "Overwrite: F")
  }

  @Test("Destination has the upstream's host and scheme, and loses the prefix")
  func destinationElsewhere() {
    func sent(_ value: String, _ upstream: UpstreamRewriting) -> String {
      forward("MOVE /reports/a HTTP/1.1\r\nHost: a.example\r\nDestination: \(value)\r\n\r\n", upstream)
        .first { $0.hasPrefix("Destination: ") } ?? "none"
    }
    let upstream = Self.rewriting(host: "dav.internal", prefix: "/reports", tls: true)
    #expect(sent("https://a.example/reports/b", upstream) == "Destination: https://dav.internal/b")
    #expect(sent("/reports/b", upstream) == "Destination: /b")
    let off = Self.rewriting(prefix: "/reports", redirects: false)
    #expect(sent("https://a.example/reports/b", off) == "Destination: https://a.example/b")
    let untouched = Self.rewriting(redirects: false)
    #expect(sent("https://a.example/reports/b", untouched) == "Destination: https://a.example/reports/b")
  }

  @Test("Destination keeps the prefix for an upstream that gets X-Script-Name, and outside of it is refused")
  func destinationWithScriptName() {
    let upstream = Self.rewriting(prefix: "/reports", receivesScriptName: true)
    func sent(_ value: String) -> String {
      forward("MOVE /reports/a HTTP/1.1\r\nHost: a.example\r\nDestination: \(value)\r\n\r\n", upstream)
        .first { $0.hasPrefix("Destination: ") } ?? "none"
    }
    #expect(sent("https://a.example/reports/b") == "Destination: http://a.example/reports/b")
    #expect(sent("/reports/b") == "Destination: /reports/b")
    let rewriting = AddressRewriting(
      upstream, scheme: Array("https".utf8), authority: Array("a.example".utf8), ownPathPrefix: Array("/.auth/".utf8))
    for value in [
      "/other/b", "https://other.example/reports/x", "https://x@a.example/reports/b", "reports/b", "/reports//x/admin",
      "https://a.example/reports//x/admin",
    ] {
      #expect(rewriting.destination(Array(value.utf8)) == .outsidePrefix, "\(value)")
    }
    var settings = UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false))
    settings.strippedPrefix = "/reports"
    #expect(!UpstreamRewriting(settings).receivesScriptName)
    settings.ownHeaders = ["x-script-name"]
    #expect(UpstreamRewriting(settings).receivesScriptName)
  }

  @Test(
    "A Destination that is not certainly below the prefix is told apart",
    arguments: [
      ("https://a.example/other/b", true), ("http://a.example/other/b", true), ("/other/b", true), ("/", true),
      ("https://A.EXAMPLE:443/reportsx", true), ("/reports/b", false), ("https://other.example/x", true),
      ("https://a.example/reports", false), ("https://x@a.example/reports/b", true), ("reports/b", true),
    ])
  func destinationOutsidePrefix(_ value: String, _ leaves: Bool) throws {
    let bytes = Array("MOVE /reports/a HTTP/1.1\r\nHost: a.example\r\nDestination: \(value)\r\n\r\n".utf8)
    var head = RequestHead()
    let parser = RequestHeadParser(limits: HeadLimits(headBytes: 32_768, fieldCount: 100, targetBytes: 8_192))
    try #require(parser.parse(bytes.span.bytes, into: &head) == .complete)
    func found(_ upstream: UpstreamRewriting) -> Bool {
      RequestForwarding.leavesPrefix(upstream, head, bytes.span.bytes, rules)
    }
    #expect(found(Self.rewriting(prefix: "/reports")) == leaves)
    #expect(!found(Self.rewriting()), "without a prefix all of the host is the upstream's")
  }

  @Test("A request whose path or Destination is outside of the prefix is refused, and the upstream does not see it")
  func refused() async throws {
    try await withGateway(
      upstream: { $0.strippedPrefix = "/reports" },
      { rig in
        for (path, destination, status) in [
          ("/reports/a", "/reports/b", 200), ("/reports/a", "/other/b", 403), ("/other/a", "/reports/b", 404),
        ] {
          let head = "MOVE \(path) HTTP/1.1\r\nHost: a\r\nDestination: \(destination)\r\nConnection: close\r\n\r\n"
          let answer = try await rig.exchange(head)
          #expect(answer.status == status, "\(path) to \(destination)")
        }
        #expect(rig.log.upstreamsOpened == 1)
      })
  }

  @Test("Connection can nominate Destination away, rewritten or not")
  func nominated() {
    let lines = forward(
      "COPY / HTTP/1.1\r\nHost: a\r\nConnection: Destination\r\nDestination: https://a/x\r\n\r\n", Self.rewriting())
    #expect(!lines.contains { $0.hasPrefix("Destination") })
  }

  @Test(
    "A review sees the request as its client sent it",
    arguments: [
      "/reports/x?y", "/reports", "/reports/", "/reports?y", "/reports;a=1", "/reports/;a=1",
    ])
  func review(_ target: String) throws {
    let upstream = Self.rewriting(host: "app.internal", prefix: "/reports")
    let text = "GET \(target) HTTP/1.1\r\nHost: a.example\r\n\r\n"
    let sent = ByteBuffer(string: forwarded(text, rules: rules, upstream: upstream))
    let path = target.split(separator: "?").first.map { Array($0.utf8) } ?? []
    let found = upstream.strippedPath(path.span.bytes, path.indices)
    let stripped = try #require(found)
    var scratch = RequestHead()
    for destination in [nil, "https://a.example/reports/y"] {
      let head = SentHead.reviewedHead(
        sent, upstream, addsSlash: stripped.addsSlash, destination: destination.map { Array($0.utf8) }, &scratch)
      let field = destination.map { "Destination: \($0)\r\n" } ?? ""
      #expect(head.map { String(buffer: $0) } == text.dropLast(1) + field + "\r\n")
    }
    #expect(SentHead.clientAuthority(sent, &scratch) == Array("a.example".utf8))
  }

  @Test("A review sees the Depth that the upstream got, and none if there were several")
  func reviewedDepth() {
    func reviewed(_ fields: String) -> [String] {
      let text = "PROPFIND /x HTTP/1.1\r\nHost: a.example\r\n\(fields)\r\n"
      let sent = ByteBuffer(string: forwarded(text, rules: rules))
      var scratch = RequestHead()
      let head = SentHead.reviewedHead(sent, nil, addsSlash: false, destination: nil, &scratch)
      return head.map { String(buffer: $0).split(separator: "\r\n").map(String.init) } ?? []
    }
    let line = ["PROPFIND /x HTTP/1.1", "Host: a.example"]
    #expect(reviewed("Depth: 0\r\n") == line + ["Depth: 0"])
    #expect(reviewed("depth: infinity\r\n") == line + ["Depth: infinity"])
    #expect(reviewed("") == line)
    #expect(reviewed("Depth: 0\r\nDepth: 1\r\n") == line)
    #expect(reviewed("Depth: 0\r\nConnection: depth\r\n") == line)
  }
}
