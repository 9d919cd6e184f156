import Foundation
import Testing

// Signing in, attacked.
//
// - State missing, wrong, reused, of another browser: no session, no exchange.
// - Forms with repeated fields, of the wrong type, a hundred megabytes long.
// - Hostile names and hostile places to return to.
// Forged tokens: SignInTokenAttackTests. After each attack the same process lives, and an honest user signs in.

@SystemActor
@Suite("Attacks on signing in", .serialized, .site)
struct SignInAttackTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.behave()
  }

  /// Expects that a callback was refused: a page, no session, no code exchanged.
  private func expectRefused(
    _ page: Visitor.Page, _ visitor: Visitor, exchanges: Int, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect((400..<500).contains(page.status), comment, sourceLocation: sourceLocation)
    #expect(visitor.jar["__Host-cordon"] == nil, comment, sourceLocation: sourceLocation)
    let now = try site.apple.tokenRequests("authorization_code").count
    #expect(now == exchanges, comment, sourceLocation: sourceLocation)
  }

  private func exchanges() throws -> Int { try site.apple.tokenRequests("authorization_code").count }

  // MARK: State

  @Test(
    "State missing, empty, wrong or foreign",
    arguments: ["missing", "empty", "changed", "longer", "foreign", "unicode"])
  func wrongState(how: String) throws {
    try site.surviving {
      let visitor = try site.beforeCallback()
      var form = try visitor.answerForm()
      let state = try #require(form.inputs.first { $0.0 == "state" }?.1)
      switch how {
      case "missing": form.inputs.removeAll { $0.0 == "state" }
      case "empty": form = form.filling(["state": ""])
      case "changed": form = form.filling(["state": String(state.dropLast()) + (state.hasSuffix("A") ? "B" : "A")])
      case "longer": form = form.filling(["state": state + "A"])
      case "foreign":
        let other = try site.beforeCallback(as: "ben")
        form = form.filling(["state": try #require(other.answerForm().inputs.first { $0.0 == "state" }?.1)])
      default: form = form.filling(["state": state + "\u{0301}"])
      }
      let before = try exchanges()
      try expectRefused(visitor.carryBack(form), visitor, exchanges: before)
      _ = try site.signedIn()
    }
  }

  @Test("An answer that another browser asked for is refused: nobody is signed in as somebody else")
  func anotherBrowsersAnswer() throws {
    try site.surviving {
      let attacker = try site.beforeCallback(as: "ben")
      let victim = try site.beforeCallback(as: "anna")
      let before = try exchanges()
      try expectRefused(victim.carryBack(attacker.answerForm()), victim, exchanges: before)
      let stranger = Visitor()
      try stranger.open("\(site.apple.baseURL)/simulator")
      let page = try stranger.carryBack(attacker.answerForm())
      try expectRefused(page, stranger, exchanges: before)
      #expect(page.text.contains("This sign-in was started in another browser"))
    }
  }

  @Test("An answer that another browser asked for signs nobody in beside other attempts, of which forged ones are none")
  func besideOtherAttempts() throws {
    try site.surviving {
      let attacker = try site.beforeCallback(as: "ben")
      let answer = try attacker.answerForm()
      let before = try exchanges()
      let victim = try site.beforeCallback(as: "anna", returnTo: "/mine")
      let page = try victim.carryBack(answer)
      try expectRefused(page, victim, exchanges: before)
      #expect(page.text.contains("href=\"/.auth/sign-in?return_to=/mine\"") && page.response.setCookies.isEmpty)

      let mine = try #require(victim.jar.cookies.first { $0.name.hasPrefix("__Host-cordon-attempt-") })
      for value in ["forged", String(mine.value.dropLast(4))] {
        victim.jar[mine.name] = value
        try victim.open("\(site.apple.baseURL)/simulator")
        let page = try victim.carryBack(answer)
        try expectRefused(page, victim, exchanges: before)
        #expect(page.text.contains("This sign-in was started in another browser"), "\(value)")
      }

      let anna = try site.signedIn(as: "anna")
      let session = anna.jar["__Host-cordon"]
      try anna.start(site, returnTo: "/again")
      let exchanged = try exchanges()
      try anna.open("\(site.apple.baseURL)/simulator")
      let back = try anna.carryBack(answer, following: false)
      #expect(back.status == 303 && back.response.location == "/" && back.response.setCookies.isEmpty)
      #expect(try exchanges() == exchanged)
      #expect(try anna.fetch(site.own("session")).text.contains(try site.apple.subject(of: "anna")))
      #expect(anna.jar["__Host-cordon"] == session)
    }
  }

  @Test("An answer works once")
  func reusedAnswer() throws {
    try site.surviving {
      let visitor = try site.beforeCallback(as: "anna")
      let form = try visitor.answerForm()
      let attempts = visitor.jar
      try visitor.carryBack(form)
      #expect(try visitor.fetch(site.own("session")).status == 200)
      let before = try exchanges()
      // Again with every cookie as it was before.
      let thief = Visitor()
      thief.jar = attempts
      try thief.open("\(site.apple.baseURL)/simulator")
      let page = try thief.carryBack(form)
      try expectRefused(page, thief, exchanges: before)
      #expect(page.text.contains("This sign-in has ended"))
      // Without the cookie of its attempt, which the first answer removed, but with the session.
      let back = try visitor.carryBack(form)
      #expect(back.status == 400 && back.text.contains("You have already completed this sign-in"))
      #expect(try exchanges() == before)
      // The session that the first one made goes on.
      #expect(try visitor.fetch(site.own("session")).status == 200)
    }
  }

  @Test("An answer works once also after the gateway was started again")
  func reusedAfterRestart() throws {
    let visitor = try site.beforeCallback(as: "anna")
    let form = try visitor.answerForm()
    let attempts = visitor.jar
    try visitor.carryBack(form)
    try site.gateway.restart()
    let before = try exchanges()
    let thief = Visitor()
    thief.jar = attempts
    try thief.open("\(site.apple.baseURL)/simulator")
    try expectRefused(thief.carryBack(form), thief, exchanges: before)
  }

  @Test(
    "Attempt cookies that are forged, cut or exchanged open nothing", arguments: ["cut", "changed", "swapped", "gone"])
  func forgedAttempt(how: String) throws {
    try site.surviving {
      let visitor = try site.beforeCallback()
      let attempt = try #require(visitor.jar.cookies.first { $0.name.hasPrefix("__Host-cordon-attempt-") })
      switch how {
      case "cut": visitor.jar[attempt.name] = String(attempt.value.dropLast(4))
      case "changed":
        visitor.jar[attempt.name] = String(attempt.value.dropLast()) + (attempt.value.hasSuffix("A") ? "B" : "A")
      case "swapped":
        let other = try site.beforeCallback()
        let foreign = try #require(other.jar.cookies.first { $0.name.hasPrefix("__Host-cordon-attempt-") })
        visitor.jar[attempt.name] = foreign.value
      default: visitor.jar[attempt.name] = nil
      }
      let before = try exchanges()
      try expectRefused(visitor.carryBack(), visitor, exchanges: before)
    }
  }

  // MARK: Forms

  @Test("Repeated form fields are refused", arguments: ["state", "code", "id_token", "user"])
  func repeatedFields(name: String) throws {
    try site.surviving {
      let visitor = try site.beforeCallback()
      var form = try visitor.answerForm()
      form.inputs.append((name, form.inputs.first { $0.0 == name }?.1 ?? "{}"))
      form.inputs.append((name, "another"))
      let before = try exchanges()
      try expectRefused(visitor.carryBack(form), visitor, exchanges: before)
    }
  }

  @Test(
    "A callback of another content type is refused",
    arguments: ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
  func wrongContentType(type: String) throws {
    try site.surviving {
      let visitor = try site.beforeCallback()
      let body = FormEncoding.encode(try visitor.answerForm().inputs)
      let cookie = try #require(try visitor.cookieHeader(for: site.own("callback")))
      let fields = [("Cookie", cookie)] + (type.isEmpty ? [] : [("Content-Type", type)])
      let before = try exchanges()
      let response = try site.gateway.client.send("POST", "/.auth/callback", fields: fields, body: Array(body.utf8))
      #expect((400..<500).contains(response.status))
      #expect(!response.setCookies.contains { $0.hasPrefix("__Host-cordon=") })
      #expect(try exchanges() == before)
    }
  }

  @Test(
    "A body of 100 MB is refused before it is read", arguments: ["callback", "sign-out", "native", "notifications"])
  func hugeBody(path: String) throws {
    try site.surviving {
      let connection = try site.gateway.connect()
      try connection.send(
        """
        POST /.auth/\(path) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\
        Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 104857600\r\n\r\n
        """)
      // Nothing of the body is sent, so the answer cannot have waited for it.
      let status = try HTTPResponse.read(from: connection).status
      #expect(path == "callback" ? status == 413 : (400..<500).contains(status))
    }
  }

  @Test("A chunked body without end is refused when it is too long")
  func endlessBody() throws {
    try site.surviving {
      let connection = try site.gateway.connect()
      try connection.send(
        """
        POST /.auth/callback HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\
        Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n
        """)
      let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x61, count: 65_536) + Array("\r\n".utf8)
      for _ in 0..<16 { try? connection.send(chunk, by: .seconds(5)) }
      // The body has not ended, so the answer cannot have waited for its end.
      let response = try HTTPResponse.read(from: connection)
      #expect(response.status == 413)
    }
  }

  // MARK: Names

  private nonisolated static let hostileUsers = [
    #"{"name": {"firstName": "<script>alert(1)</script>", "lastName": "\"><img src=x onerror=alert(1)>"}}"#,
    #"{"name": {"firstName": "Ann\r\nX-Evil: 1", "lastName": "B\u0000C"}}"#,
    #"{"name": {"firstName": "{{{host}}}", "lastName": "${HOME} %n%s"}}"#,
    #"{"name": {"firstName": "\u202egnp.exe", "lastName": "\u2028\u0085"}}"#,
    #"{"name": {"firstName": 7, "lastName": ["x"]}}"#,
    #"{"name": "Ann"}"#,
    #"[]"#,
    #"not json"#,
    #"{"email": "boss@example.com", "sub": "000000.boss", "email_verified": true}"#,
  ]

  @Test("A hostile name harms nobody: no markup, no line breaks, no other identity", arguments: hostileUsers.indices)
  func hostileName(index: Int) throws {
    try site.surviving {
      let id = "hostile\(index)"
      try site.apple.add(user: ["id": id, "first_name": "A", "last_name": "B", "email": "\(id)@example.com"])
      try site.apple.tamper("authorize", fields: ["user": Self.hostileUsers[index]])
      let visitor = Visitor()
      let page = try visitor.signIn(site, as: id, returnTo: "/\(id)")
      #expect(page.status == 200)
      let seen = try site.upstream.waitForRequest { $0.target == "/\(id)" }
      #expect(seen.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: id)])
      #expect(seen.fields[all: "X-Forwarded-Email"] == ["\(id)@example.com"])
      #expect(!seen.fields.contains("X-Evil"))
      #expect(seen.headBytes.allSatisfy { ($0 >= 0x20 && $0 < 0x7F) || $0 == 13 || $0 == 10 })
      let question = try visitor.open(site.own("sign-out")).text
      #expect(!question.contains("<script>alert"))
      #expect(!question.contains("<img src=x"))
    }
  }

  @Test("A name as long as a book, and JSON as deep as a mine, harm nobody", arguments: ["long", "deep"])
  func enormousUser(kind: String) throws {
    try site.surviving {
      let user =
        kind == "long"
        ? #"{"name":{"firstName":""# + String(repeating: "Ann ", count: 10_000) + #"","lastName":"B"}}"#
        : #"{"name":"# + String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000) + "}"
      let id = "enormous-\(kind)"
      try site.apple.add(user: ["id": id, "email": "\(id)@example.com"])
      try site.apple.tamper("authorize", fields: ["user": user])
      let visitor = Visitor()
      let page = try visitor.signIn(site, as: id, returnTo: "/\(id)")
      #expect(page.status < 500)
      if visitor.jar["__Host-cordon"] != nil {
        let seen = try site.upstream.waitForRequest { $0.target == "/\(id)" }
        #expect(seen.headBytes.count < 8_192)
      }
      _ = try site.signedIn()
    }
  }

  // MARK: Where to return to

  private nonisolated static let hostileTargets = [
    "//evil.example", "/\\evil.example", "\\\\evil.example", "/%09/evil.example", "/\t/evil.example",
    "https:evil.example",
    "https://evil.example/", "http://localhost:1/", "javascript:alert(1)", "JaVaScRiPt:alert(1)",
    "data:text/html,x", "u@evil.example", "//u@evil.example", "/\u{2215}/evil.example", "\u{FF0F}\u{FF0F}evil.example",
    "/\r\nSet-Cookie: a=1", "/%0d%0aSet-Cookie:%20a=1", " //evil.example", "///evil.example", "/./..//evil.example",
    "/..//evil.example", "?//evil.example", "#//evil.example", "evil.example", "/.auth/sign-out", "",
    "/%2f/evil.example", "/;//evil.example", "/a\u{0000}b", "/" + String(repeating: "a", count: 20_000),
  ]

  @Test("The user always lands at our own origin", arguments: hostileTargets.indices)
  func returnTo(index: Int) throws {
    try site.surviving {
      let visitor = Visitor()
      let target = Self.hostileTargets[index]
      let begun = try visitor.start(site, returnTo: target)
      guard begun.address.origin == site.apple.baseURL else {
        #expect((400..<500).contains(begun.status))
        return
      }
      try visitor.decide(.proceed(user: "anna"))
      let page = try visitor.carryBack(following: false)
      #expect(page.status == 303)
      let location = try #require(page.response.location)
      #expect(location.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
      #expect(!page.response.setCookies.contains { $0.hasPrefix("a=1") })
      // As a browser resolves it: at our origin whatever parser reads it.
      #expect(!location.hasPrefix("//") && !location.hasPrefix("/%09") && !location.hasPrefix("/%5C"))
      #expect(try WebAddress(location, relativeTo: page.address).origin == site.origin)
    }
  }
}
