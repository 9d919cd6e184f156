import Foundation
import Testing

// Apple in trouble while somebody signs in.
//
// - It is gone: a page, no session; who is signed in goes on.
// - Its keys are away, nonsense, endless or none: a page, no session; who is signed in goes on; and it is over when it
//   is.
// - It answers with errors: a check of /healthz says so from the third on.
// - An answer that takes seconds is waited for, one that never comes is given up; others are served meanwhile.

@SystemActor
@Suite("Failures of Apple during a sign-in")
struct AppleTransportFailureTests {
  private static let keyTroubles: [(kind: String, status: Int?)] = [
    ("status", 500), ("status", 429), ("status", 404), ("html", nil), ("endless-json", nil), ("deep-json", nil),
    ("truncated-json", nil), ("empty", nil), ("empty-key-set", nil), ("cut", nil),
  ]

  @Test("With Apple gone a sign-in ends on a page, and who is signed in goes on")
  func gone() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    let ben = Visitor()
    try ben.start(site)
    try ben.decide(.proceed(user: "ben"))
    let form = try ben.answerForm()
    site.apple.stop()
    let page = try ben.carryBack(form)
    #expect(page.status >= 500)
    #expect(page.response.fields["Content-Type"]?.hasPrefix("text/html") == true)
    #expect(ben.jar["__Host-cordon"] == nil)
    #expect(try anna.fetch("\(site.origin)/beside").status == 200)
  }

  @Test("Without Apple's keys nobody new gets in, who is signed in goes on, and it is over when Apple is well")
  func keys() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    for (number, trouble) in Self.keyTroubles.enumerated() {
      let shown: Comment = "\(trouble)"
      // No key that is remembered serves, and the pause after a failed fetch is over.
      try site.apple.rotateKeys(dropOld: true)
      try site.setClock(secondsAhead: number * 600)
      try site.apple.fault("keys", trouble.kind, trouble.status.map { ["status": $0] } ?? [:])
      let ben = Visitor()
      let page = try ben.signIn(site, as: "ben")
      #expect(page.status >= 500, shown)
      #expect(page.response.fields["Content-Type"]?.hasPrefix("text/html") == true, shown)
      #expect(ben.jar["__Host-cordon"] == nil, shown)
      #expect(try anna.fetch("\(site.origin)/beside").status == 200, shown)
      try site.apple.behave()
      try site.setClock(secondsAhead: number * 600 + 300)
      _ = try site.signedIn(as: "ben")
    }
  }

  @Test("Three errors of Apple in a row are a failing check until Apple is well, and no matter of readiness")
  func errorsInARow() throws {
    let site = try Site()
    defer { site.stop() }
    let admin = HTTPClient(port: site.gateway.configuration.adminPort)
    try site.apple.fault("token", "status", ["status": 503])
    for count in 1...3 {
      #expect(try Visitor().signIn(site, as: "ben").status == 503)
      let health = try admin.get("/healthz")
      #expect(health.status == 200 && health.text.contains("Apple answered 503, as before") == (count == 3))
    }
    #expect(try admin.get("/readyz").status == 200)
    try site.apple.behave()
    _ = try site.signedIn(as: "ben")
    #expect(try admin.get("/healthz").text.contains("\"name\":\"apple\",\"status\":\"ok\""))
  }

  @Test("An answer of three seconds is waited for, one that never comes is given up, and others are served meanwhile")
  func slow() throws {
    let site = try Site()
    defer { site.stop() }
    try site.apple.fault("token", "slow", ["milliseconds": 3_000])
    _ = try site.signedIn(as: "anna")
    try site.apple.behave()
    try site.apple.fault("token", "slow", ["milliseconds": 600_000])
    let ben = Visitor()
    try ben.start(site)
    try ben.decide(.proceed(user: "ben"))
    let form = try ben.answerForm()
    let cookie = try #require(try ben.cookieHeader(for: site.own("callback")))
    let body = FormEncoding.encode(form.inputs)
    let connection = try site.gateway.connect()
    try connection.send(
      """
      POST /.auth/callback HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: \(cookie)\r\n\
      Accept: text/html\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
      """)
    try poll("Apple to be asked") { try site.apple.tokenRequests("authorization_code").count == 2 ? () : nil }
    for _ in 0..<20 { #expect(try site.gateway.client.get("/.auth/session").status == 401) }
    #expect(connection.received.isEmpty)
    let response = try HTTPResponse.read(from: connection)
    #expect(response.status >= 500)
    #expect(!response.setCookies.contains { $0.hasPrefix("__Host-cordon=") && !$0.hasPrefix("__Host-cordon=;") })
  }
}
