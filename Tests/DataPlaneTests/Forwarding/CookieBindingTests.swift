import HTTPWire
import NIOCore
import Synchronization
import Testing

@testable import DataPlane

// Cases: values with the code of the account, of another, of an older secret, without one; our own cookies beside them;
// Set-Cookie with and without HttpOnly, of deletions; responses that caches may use again.

@Suite("Session cookies of an application, bound to an account")
struct CookieBindingTests {
  private func binding(_ codes: [String] = ["AAAA", "BBBB"], makesPrivate: Bool = false) -> CookieBinding {
    CookieBinding(
      [CookieBinding.Cookie(name: "sid", codes: codes), CookieBinding.Cookie(name: "S2", codes: codes)],
      unbound: UnboundCookies { _ in }, makesPrivate: makesPrivate)
  }

  /// The `Cookie` fields of a forwarded request.
  private func cookies(_ lines: String..., binding: CookieBinding? = nil) -> [String] {
    let text = "GET / HTTP/1.1\r\nHost: a\r\n" + lines.map { "Cookie: \($0)\r\n" }.joined() + "\r\n"
    let rules = ForwardingRules(reservedNames: [], sessionCookieName: "__Host-cordon", scheme: "https")
    let bytes = Array(text.utf8)
    var head = RequestHead()
    let parser = RequestHeadParser(limits: HeadLimits(headBytes: 32_768, fieldCount: 100, targetBytes: 8_192))
    guard parser.parse(bytes.span.bytes, into: &head) == .complete else { return ["malformed"] }
    rules.gatewayCookies.find(bytes.span.bytes, in: &head)
    (binding ?? self.binding()).mark(bytes.span.bytes, in: &head)
    var buffer = ByteBuffer()
    RequestForwarding.write(
      head, bytes.span.bytes, rules: rules,
      context: RequestForwarding.Context(
        identity: nil, address: "192.0.2.7", trusted: false,
        requestID: RequestIDSource.Identifier(high: 0, low: 0), upgrades: false), to: &buffer)
    return String(buffer: buffer).split(separator: "\r\n").filter { $0.hasPrefix("Cookie:") }.map {
      String($0.dropFirst("Cookie: ".count))
    }
  }

  @Test(
    "A cookie with the account's code is forwarded without it, any other is not",
    arguments: [
      ("sid=x.AAAA", "sid=x"), ("sid=x.BBBB", "sid=x"), ("sid=.AAAA", "sid="), ("sid=x.CCCC", nil), ("sid=x", nil),
      ("sid=", nil), ("sid", nil), ("sid=AAAA", nil), ("sid=x.AAAAx", nil), ("sid=x.aaaa", nil),
      ("a=1; sid=x.AAAA; b=2", "a=1; sid=x; b=2"), ("a=1; sid=x.CCCC; b=2", "a=1; b=2"), ("sid=x.CCCC; b=2", "b=2"),
      ("a=1; sid=x.CCCC", "a=1"), ("sid=x.AAAA;sid=y.CCCC;S2=z.AAAA", "sid=x;S2=z"), (" sid =x.AAAA ", "sid =x"),
      ("SID=x", "SID=x"), ("sidx=1; xsid=2", "sidx=1; xsid=2"), ("sid=\"x\".AAAA", "sid=\"x\""),
      ("__Host-cordon=s; sid=x.AAAA; __Host-cordon-last=l; S2=y.CCCC; c=3", "sid=x; c=3"),
      ("sid=x.AAAA.AAAA", "sid=x.AAAA"), ("sid=a=b.AAAA", "sid=a=b"),
    ] as [(String, String?)])
  func requests(came: String, forwarded: String?) {
    #expect(cookies(came) == (forwarded.map { [$0] } ?? []))
  }

  @Test("Each of several Cookie fields is judged by itself")
  func severalFields() {
    #expect(cookies("a=1; sid=x.AAAA", "sid=y", "S2=z.BBBB; __Host-cordon=s") == ["a=1; sid=x", "S2=z"])
  }

  /// The field lines of a rewritten response; nil where it stays as it is.
  private func response(
    _ lines: String..., status: Int = 200, method: RequestHead.Method = .get, by binding: CookieBinding
  )
    -> [String]?
  {
    let text = "HTTP/1.1 \(status) OK\r\n" + lines.map { "\($0)\r\n" }.joined() + "\r\n"
    let bytes = Array(text.utf8)
    var head = ResponseHead()
    guard PrivateResponse.parser.parse(bytes.span.bytes, into: &head) == .complete else { return ["malformed"] }
    guard let result = PrivateResponse.rewrite(head, bytes.span.bytes, binding, method: method) else { return nil }
    var again = ResponseHead()
    guard PrivateResponse.parser.parse(result.span.bytes, into: &again) == .complete, again.byteCount == result.count
    else { return ["malformed result"] }
    return String(decoding: result, as: UTF8.self).split(separator: "\r\n").dropFirst().map(String.init)
  }

  @Test(
    "An HttpOnly session cookie gets the code of the account; others, and deletions, stay as they are",
    arguments: [
      ("sid=x; HttpOnly", "sid=x.AAAA; HttpOnly"), ("sid=x ;path=/;httponly", "sid=x.AAAA ;path=/;httponly"),
      ("sid=\"x\"; Secure; HttpOnly", "sid=\"x\".AAAA; Secure; HttpOnly"), ("sid=x; Path=/", nil), ("sid=x", nil),
      ("sid=; HttpOnly", nil), ("sid=deleted; HttpOnly; Max-Age=0", nil), ("sid=x; HttpOnly; max-age=-1", nil),
      ("sid=x; HttpOnly; Expires=Thu, 01 Jan 1970 00:00:01 GMT", nil),
      ("sid=x; HttpOnly; expires=Thu, 01-Jan-1970 00:00:01 GMT", nil),
      (
        "sid=x; HttpOnly; Expires=Thu, 01 Jan 2099 00:00:01 GMT",
        "sid=x.AAAA; HttpOnly; Expires=Thu, 01 Jan 2099 00:00:01 GMT"
      ),
      ("sid=x; HttpOnly; Max-Age=60", "sid=x.AAAA; HttpOnly; Max-Age=60"), ("other=x; HttpOnly", nil),
      (
        "sid=x; HttpOnly; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
        "sid=x.AAAA; HttpOnly; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT"
      ),
      ("sid=x; HttpOnly; Max-Age=0; Expires=Thu, 01 Jan 2099 00:00:01 GMT", nil),
      ("sid=x; HttpOnly; Max-Age=-x", "sid=x.AAAA; HttpOnly; Max-Age=-x"),
      ("Sid=x; HttpOnly", nil), ("sid; HttpOnly", nil), ("sid=x; HttpOnlyx", nil),
      ("sid=x; HttpOnly=true", "sid=x.AAAA; HttpOnly=true"), ("sid=x; HttpOnly=", "sid=x.AAAA; HttpOnly="),
    ] as [(String, String?)])
  func setCookies(came: String, sent: String?) {
    #expect(
      response("A: 1", "Set-Cookie: \(came)", "B: 2", by: binding())
        == sent.map { ["A: 1", "Set-Cookie: \($0)", "B: 2"] })
  }

  @Test("A cookie that is set without HttpOnly is reported once, and not bound from then on, whatever comes later")
  func unbound() {
    let reported = Mutex<[Int]>([])
    let binding = CookieBinding(
      [CookieBinding.Cookie(name: "sid", codes: ["AAAA"]), CookieBinding.Cookie(name: "S2", codes: ["AAAA"])],
      unbound: UnboundCookies { cookie in reported.withLock { $0.append(cookie) } }, makesPrivate: false)
    #expect(cookies("S2=x", binding: binding) == [])
    #expect(response("Set-Cookie: S2=; Max-Age=0", by: binding) == nil)
    #expect(reported.withLock { $0 } == [], "a deletion tells nothing")
    for _ in 0..<2 { #expect(response("Set-Cookie: S2=x; Path=/", by: binding) == nil) }
    #expect(reported.withLock { $0 } == [1])
    #expect(cookies("S2=x; sid=y", binding: binding) == ["S2=x"])
    #expect(cookies("S2=x.AAAA", binding: binding) == ["S2=x"], "it was bound before")
    #expect(
      response("Set-Cookie: S2=x; HttpOnly", "Set-Cookie: sid=y; HttpOnly", by: binding) == [
        "Set-Cookie: S2=x; HttpOnly", "Set-Cookie: sid=y.AAAA; HttpOnly",
      ])
  }

  @Test(
    "A response that may be used again without validation is made private, and varies by cookie unless it is immutable",
    arguments: [
      ([], ["Cache-Control: private", "Vary: Cookie"]),
      (["Cache-Control: max-age=60"], ["Cache-Control: private, max-age=60", "Vary: Cookie"]),
      (
        ["Cache-Control: public, max-age=60, s-maxage=600", "Cache-Control: must-revalidate"],
        ["Cache-Control: private, max-age=60, must-revalidate", "Vary: Cookie"]
      ),
      (["Cache-Control: private"], ["Cache-Control: private", "Vary: Cookie"]),
      (["Cache-Control: max-age=9, immutable"], ["Cache-Control: private, max-age=9, immutable"]),
      (["Vary: Accept, cookie"], ["Vary: Accept, cookie", "Cache-Control: private"]),
      (["Vary: *"], ["Vary: *", "Cache-Control: private"]),
      (["Vary: X"], ["Vary: X", "Cache-Control: private", "Vary: Cookie"]),
      (["Cache-Control: private=\"a, b\""], ["Cache-Control: private, no-cache", "Vary: Cookie"]),
      (["Cache-Control: no-store"], nil), (["Cache-Control: max-age=60, No-Cache"], nil),
      (["Cache-Control: public, max-age=0, s-maxage=600"], ["Cache-Control: private, max-age=0", "Vary: Cookie"]),
      (
        ["Cache-Control: max-age=0, stale-while-revalidate=60"],
        ["Cache-Control: private, max-age=0, stale-while-revalidate=60", "Vary: Cookie"]
      ),
      (["Cache-Control: max-age=0"], nil), (["Cache-Control: max-age=000, must-revalidate"], nil),
    ] as [([String], [String]?)])
  func caching(came: [String], sent: [String]?) {
    let text = came.joined(separator: "\r\n")
    let found =
      came.isEmpty
      ? response("A: 1", by: binding(makesPrivate: true)) : response("A: 1", text, by: binding(makesPrivate: true))
    #expect(found == sent.map { ["A: 1"] + $0 })
    #expect(response("A: 1", by: binding()) == nil)
  }

  @Test(
    "Fields that let only some caches keep a response are removed from a private one",
    arguments: [
      (["CDN-Cache-Control: max-age=600"], ["Cache-Control: private", "Vary: Cookie"]),
      (
        ["Cache-Control: no-store", "Cloudflare-CDN-Cache-Control: public, max-age=600"],
        ["Cache-Control: no-store"]
      ),
      (
        ["Cache-Control: no-cache", "surrogate-control: max-age=600", "B: 2"],
        ["Cache-Control: no-cache", "B: 2"]
      ),
      (["Cache-Control: no-store", "X-Accel-Expires: 60"], ["Cache-Control: no-store"]),
      (["Cache-Control: no-store", "CDN-Cache-Control: no-store"], nil),
      (["Cache-Control: no-store", "X-Accel-Expires: 0"], nil),
      (["Cache-Control: no-store", "Edge-Control: Off"], nil),
      (["Cache-Control: no-store", "Edge-Control: max-age=60"], ["Cache-Control: no-store"]),
      (
        ["CDN-Cache-Control: private", "Cache-Control: max-age=60"],
        ["CDN-Cache-Control: private", "Cache-Control: private, max-age=60", "Vary: Cookie"]
      ),
    ] as [([String], [String]?)])
  func targetedCaching(came: [String], sent: [String]?) {
    let text = came.joined(separator: "\r\n")
    #expect(response("A: 1", text, by: binding(makesPrivate: true)) == sent.map { ["A: 1"] + $0 })
    #expect(response("A: 1", text, by: binding()) == nil)
    #expect(
      response("A: 1", "CDN-Cache-Control: max-age=600", method: .post, by: binding(makesPrivate: true)) == ["A: 1"])
  }

  @Test("A response with as many fields as an upstream may send is rewritten like any other")
  func manyFields() async throws {
    let many = String(repeating: "A: b\r\n", count: LoopResources.responseHeads.fieldCount - 2)
    try await withGateway(
      gate: { _, _ in
        var directive = ForwardingDirective(label: .init(number: 1))
        directive.binding = CookieBinding(
          [CookieBinding.Cookie(name: "sid", codes: ["AAAA"])], unbound: UnboundCookies { _ in }, makesPrivate: true)
        return .forward(directive)
      },
      script: { socket, _ in
        _ = try socket.readRequest()
        try socket.answer("a", fields: "Set-Cookie: sid=x; HttpOnly\r\n" + many)
      },
      { rig async throws in
        let response = try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.status == 200, "\(response.text)")
        #expect(response.value("set-cookie") == "sid=x.AAAA; HttpOnly")
        #expect(response.value("cache-control") == "private" && response.value("vary") == "Cookie")
      })
  }

  @Test("A response that a code makes larger than a header may be is refused for its size")
  func tooLarge() async throws {
    let line = "Set-Cookie: sid=x; HttpOnly\r\n"
    let filler = "A: " + String(repeating: "b", count: LoopResources.responseHeads.headBytes - line.utf8.count - 50)
    try await withGateway(
      gate: { _, _ in
        var directive = ForwardingDirective(label: .init(number: 1))
        directive.binding = CookieBinding(
          [CookieBinding.Cookie(name: "sid", codes: [String(repeating: "A", count: 60)])],
          unbound: UnboundCookies { _ in }, makesPrivate: false)
        return .forward(directive)
      },
      script: { socket, _ in
        _ = try socket.readRequest()
        try socket.answer("a", fields: line + filler + "\r\n")
      },
      { rig async throws in
        let response = try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.status == 502)
        #expect(response.text.hasSuffix("the rewritten header: head too large"), "\(response.text)")
      })
  }

  @Test("A response without freshness is made private where caches may keep one of its status by their own guess")
  func heuristicFreshness() {
    let binding = binding(makesPrivate: true)
    let guessed: Set = [200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501]
    for status in 200..<600 {
      let isPrivate = response("A: 1", status: status, by: binding)?.contains("Cache-Control: private") == true
      #expect(isPrivate == guessed.contains(status), "\(status)")
      let fresh = response("Cache-Control: max-age=60", status: status, by: binding)
      #expect(fresh?.contains("Cache-Control: private, max-age=60") == true, "\(status)")
    }
  }

  @Test("A response that no cache uses again by itself stays as it is")
  func notReusable() {
    let binding = binding(makesPrivate: true)
    #expect(response("A: 1", method: .post, by: binding) == nil)
    #expect(response("A: 1", status: 302, by: binding) == nil)
    #expect(
      response("Expires: Thu, 01 Jan 2099 00:00:01 GMT", status: 302, by: binding)?.contains("Cache-Control: private")
        == true)
    #expect(response("A: 1", status: 304, by: binding)?.contains("Cache-Control: private") == true)
  }
}
