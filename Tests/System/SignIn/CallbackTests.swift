import Foundation
import TemporaryDirectoryTesting
import Testing

// By which methods Apple's answer is taken, and what it may cost.
//
// - Only in the configured response mode; HEAD signs nobody in and starts nothing.
// - `Allow` names every method that works.
// - A page that opened the window cannot read an answer in it.
// - A cancelled answer writes nothing to the store.

@SystemActor
@Suite("Methods of the callback")
struct CallbackTests {
  private func ask(
    _ site: Site, _ method: String, _ path: String, _ visitor: Visitor, form: [(String, String)]? = nil
  ) throws -> HTTPResponse {
    var fields = [("Accept", "text/html"), ("Cookie", try visitor.cookieHeader(for: site.origin + "/") ?? "a=b")]
    if form != nil { fields.append(("Content-Type", "application/x-www-form-urlencoded")) }
    return try site.gateway.client.send(
      method, "/.auth/\(path)", fields: fields, body: form.map { Array(FormEncoding.encode($0).utf8) })
  }

  @Test("Under form_post an answer in the address is 405, by GET and by HEAD, and spends nothing")
  func formPost() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = try site.beforeCallback(returnTo: "/mine")
    let query = FormEncoding.encode(try visitor.answerForm().inputs)
    for method in ["GET", "HEAD"] {
      let response = try ask(site, method, "callback?\(query)", visitor)
      #expect(response.status == 405 && response.fields["Allow"] == "POST", "\(method): \(response.status)")
      #expect(response.setCookies.isEmpty)
    }
    #expect(try site.apple.tokenRequests("authorization_code").isEmpty)
    #expect(try visitor.carryBack().address.path == "/mine")
  }

  @Test("No response to what may be Apple's answer leaves its window to a page that opened it")
  func opener() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = try site.beforeCallback()
    let form = try visitor.answerForm().inputs
    let query = FormEncoding.encode(form)
    // Apple's cross-site POST, without the cookie; the mode that whoever begins at Apple may choose; an answer that is
    // longer than a request may be; a forged one.
    let responses = [
      (200, try ask(site, "POST", "callback", Visitor(), form: form)),
      (405, try ask(site, "GET", "callback?\(query)", visitor)),
      (414, try ask(site, "GET", "callback?\(query)&state=\(String(repeating: "s", count: 8_192))", visitor)),
      (400, try ask(site, "POST", "callback", visitor, form: [("state", "forged"), ("code", "c")])),
      (303, try ask(site, "POST", "callback", visitor, form: form)),
    ]
    for (status, response) in responses {
      #expect(response.status == status, "\(response.status)")
      #expect(response.fields["Cross-Origin-Opener-Policy"] == "same-origin", "\(status)")
    }
    #expect(try ask(site, "GET", "sign-in", visitor).fields["Cross-Origin-Opener-Policy"] == nil)
  }

  @Test("Under query a form of another page is 405, and HEAD is", arguments: ["query", "fragment"])
  func address(mode: String) throws {
    let site = try Site(adjust: {
      $0["apple", "response_mode"] = "\"\(mode)\""
      $0["apple", "response_type"] = "\"code\""
      $0["apple", "scopes"] = "[]"
    })
    defer { site.stop() }
    let visitor = Visitor()
    try visitor.start(site, returnTo: "/mine")
    let location = try #require(
      try visitor.decide(.proceed(user: "anna"), following: false).response.location)
    let fields = FormEncoding.decode(
      String(try #require(location.split(maxSplits: 1, whereSeparator: { $0 == "?" || $0 == "#" }).last)))
    let query = FormEncoding.encode(fields)
    let posted = try ask(site, "POST", "callback", visitor, form: fields)
    #expect(posted.status == 405 && posted.fields["Allow"] == "GET" && posted.setCookies.isEmpty)
    let head = try ask(site, "HEAD", "callback?\(query)", visitor)
    #expect(head.status == 405 && head.setCookies.isEmpty)
    if mode == "fragment" {
      // What Apple never puts there is not looked at.
      let page = try ask(site, "GET", "callback?\(query)", visitor)
      #expect(page.status == 200 && page.setCookies.isEmpty)
      let repost = try ask(site, "POST", "callback", visitor, form: fields + [("cordon_repost", "1")])
      #expect(repost.status == 303 && repost.location == "/mine")
    } else {
      #expect(try site.apple.tokenRequests("authorization_code").isEmpty)
      #expect(try visitor.open(location).address.path == "/mine")
    }
  }

  @Test("HEAD starts no attempt, works where GET has no effect, and Allow says so")
  func head() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    let authorize = try ask(site, "HEAD", "authorize", visitor)
    #expect(authorize.status == 405 && authorize.fields["Allow"] == "GET" && authorize.setCookies.isEmpty)
    let signIn = try ask(site, "HEAD", "sign-in", visitor)
    #expect(signIn.status == 200 && signIn.body.isEmpty)
    for (path, allow) in [
      ("sign-in", "GET, HEAD"), ("sign-out", "GET, HEAD, POST"), ("session", "GET, HEAD"), ("notifications", "POST"),
    ] {
      let response = try ask(site, "PUT", path, visitor)
      #expect(response.status == 405 && response.fields["Allow"] == allow, "\(path): \(response.fields["Allow"] ?? "")")
    }
    #expect(try ask(site, "HEAD", "session", visitor).status == 401)
  }

  @Test("A cancelled answer needs no store, and an answer that signs in does")
  func cancelled() throws {
    let site = try Site()
    defer { site.stop() }
    let cancelling = Visitor()
    try cancelling.start(site, returnTo: "/wanted")
    try cancelling.decide(.cancel)
    let proceeding = try site.beforeCallback()
    let lock = try DatabaseLock("\(site.gateway.directory.path)/cordon.db")
    let page = try cancelling.carryBack()
    #expect(page.status == 403)
    #expect(page.text.contains("cancel"))
    #expect(try proceeding.carryBack().status == 503)

    // Apple sends the name to the first answer only: this browser has kept it.
    #expect(proceeding.jar["__Host-cordon-name"] != nil)
    lock.release()
    try proceeding.signIn(site)
    #expect(try proceeding.fetch(site.own("session")).json()["name"] as? String == "Anna Bergström")
  }
}
