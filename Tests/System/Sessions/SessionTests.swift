import Foundation
import TemporaryDirectoryTesting
import Testing

// Sessions, honest and attacked.
//
// - Cookies forged, cut, longer, in another base64 form, for another purpose, of another key, twice: not one opens.
// - Signed out is signed out: on replay, after a restart, after a kill; a session that was not goes on.
// - Signing out wants a POST of our own pages.
// - Scripts without a session get 401 as JSON and start nothing; navigations are led to sign in.
// - Keys rotate; a start that would lose tokens is refused.
// - `verify` answers other proxies.

@SystemActor
@Suite("Sessions", .serialized, .site)
struct SessionTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  /// The status of `session`, and what the application hears, for a `Cookie` header.
  private func sessionStatus(_ cookie: String) throws -> Int {
    try site.gateway.client.get("/.auth/session", fields: [("Cookie", cookie)]).status
  }

  /// Every way to bend a cookie's value that is not the value.
  private static func bent(_ value: String) -> [String] {
    let bytes = Array(value.utf8)
    func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
    var results = [
      "", ".", "..", "a", "AAAA", String(repeating: "A", count: bytes.count), String(repeating: "A", count: 6_000),
    ]
    for count in [1, 2, 3, 4, 8, 16, 32, bytes.count / 2, bytes.count - 1] where count < bytes.count {
      results += [text(bytes.dropLast(count)), text(bytes.dropFirst(count))]
    }
    results += ["A", "=", "==", ".", "-", "%00", "%3D", "AAAAAAAA"].map { value + $0 }
    results += ["A", "=", "."].map { $0 + value }
    // Every position once: another character of the same alphabet.
    for index in bytes.indices {
      var changed = bytes
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      results.append(text(changed))
    }
    results += [value + value, value.lowercased(), value.uppercased(), "\"\(value)x\""]
    results.append(value.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "=")
    results.append(text(bytes.reversed()))
    results.append(bytes.map { "%" + String($0, radix: 16) }.joined())
    results.append(value.replacingOccurrences(of: ".", with: ".."))
    return results.filter { $0 != value }
  }

  @Test("A bent cookie opens nothing")
  func bentCookies() throws {
    let anna = try site.signedIn()
    let value = try #require(anna.jar["__Host-cordon"])
    try site.surviving {
      for bent in Self.bent(value) {
        let status = try sessionStatus("__Host-cordon=\(bent)")
        #expect(status == 401 || status == 400, "\(bent)")
      }
      #expect(try sessionStatus("__Host-cordon=\(value)") == 200)
    }
  }

  @Test("The last character's unused bits are not another spelling of the same cookie")
  func unusedBits() throws {
    let anna = try site.signedIn()
    let value = try #require(anna.jar["__Host-cordon"])
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for last in alphabet where last != value.last {
      #expect(try sessionStatus("__Host-cordon=\(value.dropLast())\(last)") == 401)
    }
  }

  @Test("Another name, or an attempt's value, opens nothing")
  func otherPurpose() throws {
    let anna = try site.signedIn()
    let value = try #require(anna.jar["__Host-cordon"])
    for name in [
      "cordon", "__host-cordon", "__Host-Cordon", "__Secure-cordon", "__Host-cordon2", " __Host-cordon\u{00a0}",
      "$__Host-cordon",
    ] {
      let status = try sessionStatus("\(name)=\(value)")
      #expect(status == 401 || status == 400, "\(name)")
    }
    let visitor = Visitor()
    try visitor.start(site)
    let attempt = try #require(visitor.jar.cookies.first { $0.name.hasPrefix("__Host-cordon-attempt-") })
    #expect(try sessionStatus("__Host-cordon=\(attempt.value)") == 401)
  }

  @Test("A cookie of another installation's key opens nothing")
  func otherKey() throws {
    let other = try Site()
    defer { other.stop() }
    try "another secret that nobody here has ever seen, long enough".write(
      toFile: "\(other.gateway.directory.path)/session.key", atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: "\(other.gateway.directory.path)/session.key")
    try other.gateway.restart()
    let stranger = try other.signedIn()
    #expect(try stranger.fetch(other.own("session")).status == 200)
    #expect(try sessionStatus("__Host-cordon=\(try #require(stranger.jar["__Host-cordon"]))") == 401)
  }

  @Test("A cookie of the same key whose session this installation never had opens nothing")
  func unknownSession() throws {
    let other = try Site()
    defer { other.stop() }
    let stranger = try other.signedIn()
    #expect(try sessionStatus("__Host-cordon=\(try #require(stranger.jar["__Host-cordon"]))") == 401)
  }

  @Test("Two cookies, the forged one first or last: the honest user or nobody, and neither goes upstream")
  func twoCookies() throws {
    let anna = try site.signedIn()
    let value = try #require(anna.jar["__Host-cordon"])
    let forged = String(value.dropLast(6)) + "AAAAAA"
    let subject = try site.apple.subject(of: "anna")
    try site.surviving {
      for header in [
        "__Host-cordon=\(forged); __Host-cordon=\(value)", "__Host-cordon=\(value); __Host-cordon=\(forged)",
      ] {
        site.upstream.forget()
        let response = try site.gateway.client.get("/two", fields: [("Cookie", header)])
        #expect([200, 302, 400, 401].contains(response.status))
        #expect(site.upstream.requests.isEmpty == (response.status != 200), "\(response.status)")
        for request in site.upstream.requests {
          #expect(request.fields[all: "X-Forwarded-User"] == [subject])
          #expect(!request.headText.contains(value) && !request.headText.contains(forged))
        }
      }
    }
  }

  // MARK: Signing out

  /// Presses the button on the sign-out page.
  @discardableResult
  private func signOut(_ visitor: Visitor) throws -> Visitor.Page {
    try visitor.open(site.own("sign-out"))
    let form = try #require(visitor.page?.forms.first { $0.method == "POST" && $0.action.contains("sign-out") })
    return try visitor.submit(form)
  }

  @Test("Signed out is signed out: the cookie is gone, its replay opens nothing, now or after a restart")
  func signingOut() throws {
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let page = try signOut(anna)
    #expect(page.status == 200)
    #expect(anna.jar["__Host-cordon"] == nil)
    #expect(try sessionStatus(cookie) == 401)
    // On every loop: each connection may be another one's.
    for _ in 0..<16 { #expect(try sessionStatus(cookie) == 401) }
    try site.gateway.restart()
    #expect(try sessionStatus(cookie) == 401)
  }

  @Test("Sessions that were signed out before a kill stay so, and the others continue", arguments: 0..<4)
  func killAfterSigningOut(round: Int) throws {
    let leaving = try site.signedIn(as: "anna")
    let staying = try site.signedIn(as: "ben")
    let cookie = try #require(try leaving.cookieHeader(for: site.origin + "/"))
    let response = try site.gateway.client.post(
      "/.auth/sign-out", form: [], fields: [("Cookie", cookie), ("Origin", site.origin)])
    #expect([200, 204, 303].contains(response.status))
    try site.gateway.killAndRestart()
    #expect(try sessionStatus(cookie) == 401)
    #expect(try staying.fetch(site.own("session")).status == 200)
  }

  @Test("Asking for the sign-out page signs nobody out")
  func signOutByGet() throws {
    let anna = try site.signedIn()
    try anna.open(site.own("sign-out"))
    try anna.open("\(site.origin)/.auth/sign-out?return_to=/")
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test("Another origin signs nobody out")
  func signOutFromElsewhere() throws {
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let strangers: [[(String, String)]] = [
      [("Origin", "http://evil.example")], [("Origin", "null")], [("Origin", "http://localhost:1")],
      [("Origin", "http://localhost")], [("Origin", site.origin + ".evil.example")], [("Origin", site.apple.baseURL)],
      [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
      [("Origin", site.origin), ("Sec-Fetch-Site", "cross-site")], [("Origin", "")],
      [("Origin", site.origin), ("Origin", "http://evil.example")],
      [("Origin", "http://evil.example"), ("Sec-Fetch-Site", "same-origin")],
    ]
    for fields in strangers {
      let response = try site.gateway.client.post("/.auth/sign-out", form: [], fields: [("Cookie", cookie)] + fields)
      #expect((400..<500).contains(response.status), "\(fields)")
      #expect(try sessionStatus(cookie) == 200, "\(fields)")
    }
  }

  // MARK: Without a session

  @Test("A script without a session gets 401 as JSON: no redirect, no attempt")
  func scripts() throws {
    let requests: [(String, [(String, String)])] = [
      ("GET", [("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")]), ("GET", [("Sec-Fetch-Mode", "same-origin")]),
      ("GET", [("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")]), ("POST", []), ("PUT", []), ("DELETE", []),
      ("POST", [("Sec-Fetch-Mode", "cors"), ("Accept", "text/html")]), ("OPTIONS", []),
    ]
    for (method, fields) in requests {
      let response = try site.gateway.client.send(
        method, "/data", fields: fields, body: method == "POST" || method == "PUT" ? Array("x".utf8) : nil)
      #expect(response.status == 401, "\(method) \(fields)")
      #expect(response.location == nil)
      #expect(response.setCookies.isEmpty)
      #expect(response.fields["Content-Type"]?.hasPrefix("application/json") == true)
      #expect((try? response.json()) != nil)
    }
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A navigation without a session is led to sign in, and back to where it was")
  func navigations() throws {
    for fields in [[("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")], [("Accept", "text/html")]] {
      let response = try site.gateway.client.get("/wanted?a=b&c=d", fields: fields)
      #expect(response.status == 302)
      let location = try #require(response.location)
      let address = try WebAddress(location, relativeTo: try WebAddress(site.origin + "/"))
      #expect(address.origin == site.origin)
      #expect(address.path.hasPrefix("/.auth/"))
      #expect(address[parameter: "return_to"] == "/wanted?a=b&c=d")
    }
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A body that is sent without a session is not forwarded, and does not become the next request")
  func unforwardedBody() throws {
    try site.surviving {
      let connection = try site.gateway.connect()
      let hidden = "GET /smuggled HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n"
      try connection.send(
        "POST /data HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nContent-Length: \(hidden.utf8.count)\r\n\r\n\(hidden)"
      )
      #expect(try HTTPResponse.read(from: connection).status == 401)
      #expect(site.upstream.requests.isEmpty)
    }
  }

  // MARK: Keys

  @Test("A new key takes over; cookies of the old one are good as long as it is listed")
  func keyRotation() throws {
    let site = try Site()
    defer { site.stop() }
    let old = try site.signedIn(as: "anna")
    try site.gateway.directory.write("the second secret of the tests, long enough to be one", to: "new.key")
    var rotated = site.gateway.configuration
    rotated["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    try site.gateway.restart(with: rotated)
    #expect(try old.fetch(site.own("session")).status == 200)
    let new = try site.signedIn(as: "ben")
    #expect(try new.fetch(site.own("session")).status == 200)

    // Without the old key, the refresh tokens that it sealed would be lost: the start is refused, with the remedy.
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    var bare = rotated
    bare["session", "secret_files"] = "[\"new.key\"]"
    let file = try bare.install(in: site.gateway.directory)
    let refused = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", file], directory: site.gateway.directory.path)
    #expect(refused.exit == .code(78), "the same start fails again")
    #expect((refused.standardError + refused.standardOutput).contains("reseal"))
  }

  @Test("Of a session secret that is lost, the tokens and the sessions go with it; accounts and names stay")
  func lostSecret() throws {
    let site = try Site()
    defer { site.stop() }
    let visitors = try ["anna", "ben"].map { try site.signedIn(as: $0) }
    for visitor in visitors { #expect(try visitor.fetch(site.own("session")).status == 200) }
    let name = try #require(try visitors[0].fetch(site.own("verify")).fields["X-Forwarded-Name"])
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    try site.gateway.directory.write("another secret, because the first is lost for ever\n", to: "session.key")
    func cordon(_ arguments: String...) throws -> (exit: ServerProcess.Exit, said: String) {
      let result = try ServerProcess.run(
        Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path)
      return (result.exit, result.standardOutput + result.standardError)
    }
    let refused = try cordon("run")
    #expect(refused.exit == .code(78) && refused.said.contains("2 refresh tokens"))
    #expect(refused.said.contains("cordon store reseal --forget-unreadable"), "\(refused.said)")
    let stopped = try cordon("store", "reseal")
    #expect(stopped.exit == .code(1) && stopped.said.contains("--forget-unreadable"), "\(stopped.said)")
    let forgotten = try cordon("store", "reseal", "--forget-unreadable")
    #expect(forgotten.exit == .code(0), "\(forgotten.said)")
    #expect(forgotten.said.contains("2 refresh tokens are sealed by a secret that is not there"), "\(forgotten.said)")
    #expect(forgotten.said.contains("2 sessions ended") && forgotten.said.contains("2 refresh tokens are deleted"))
    let again = try cordon("store", "reseal", "--forget-unreadable")
    #expect(again.exit == .code(0) && !again.said.contains("deleted"), "\(again.said)")
    #expect(try cordon("doctor").said.contains("2 accounts, 0 sessions, 0 refresh tokens"))
    try site.gateway.restart()
    #expect(try visitors[0].fetch(site.own("session")).status == 401)
    // Apple sends a name once: the one that is there now was kept.
    let anna = try site.signedIn(as: "anna")
    #expect(try anna.fetch(site.own("verify")).fields["X-Forwarded-Name"] == name)
  }

  // MARK: Other proxies

  @Test("verify answers 200 with the identity, or 401")
  func verify() throws {
    let anna = try site.signedIn()
    let response = try anna.fetch(site.own("verify"))
    #expect(response.status == 200)
    #expect(response.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
    #expect(response.fields["X-Forwarded-Email"] == "anna.bergstrom@example.com")
    let stranger = try site.gateway.client.get("/.auth/verify", fields: [("X-Forwarded-User", "evil-mallory")])
    #expect(stranger.status == 401)
    #expect(!stranger.fields.lines.contains { $0.value.contains("mallory") })
  }
}
