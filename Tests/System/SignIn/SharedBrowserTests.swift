import Foundation
import Testing

// Several attempts, and several people, in one browser.
//
// - Of two attempts begun before either finished, the later one ends the session of the earlier, its sockets included;
//   in each response mode.
// - A name that waits in the browser is given to nobody but the user that it came with.
// - Another site's page starts no attempt in a frame, and takes no attempt of the user's own away.

@SystemActor
@Suite("Several sign-ins in one browser")
struct SharedBrowserTests {
  nonisolated struct Mode: Sendable, CustomTestStringConvertible {
    let name: String
    let type: String
    let scopes: String
    var testDescription: String { "\(name), \(type)" }
  }

  nonisolated static let modes = [
    Mode(name: "form_post", type: "code id_token", scopes: #"["name", "email"]"#),
    Mode(name: "fragment", type: "code id_token", scopes: "[]"), Mode(name: "query", type: "code", scopes: "[]"),
  ]

  /// Apple's answer for an attempt that this browser begins now; hands it in when called.
  private func answer(_ site: Site, _ visitor: Visitor, as user: String, _ mode: Mode) throws -> () throws -> Void {
    try visitor.start(site, returnTo: "/of/\(user)")
    guard mode.name != "form_post" else {
      try visitor.decide(.proceed(user: user))
      let form = try visitor.answerForm()
      return {
        try visitor.open("\(site.apple.baseURL)/simulator")
        try visitor.carryBack(form)
      }
    }
    let location = try #require(try visitor.decide(.proceed(user: user), following: false).response.location)
    guard mode.name == "fragment" else { return { try visitor.open(location) } }
    let parts = location.split(separator: "#", maxSplits: 1).map(String.init)
    return {
      // As the script of our page does.
      try visitor.open(parts[0])
      var form = try visitor.answerForm()
      form.inputs += FormEncoding.decode(parts[1])
      try visitor.submit(form)
    }
  }

  @Test("Of two attempts begun before either finished, the later ends the session of the earlier", arguments: modes)
  func twoTabs(mode: Mode) throws {
    let site = try Site(
      upstream: StreamingApplication.answer,
      adjust: {
        $0["apple", "response_mode"] = "\"\(mode.name)\""
        $0["apple", "response_type"] = "\"\(mode.type)\""
        $0["apple", "scopes"] = mode.scopes
      })
    defer { site.stop() }
    let visitor = Visitor()
    let anna = try answer(site, visitor, as: "anna", mode)
    let ben = try answer(site, visitor, as: "ben", mode)
    let dana = try answer(site, visitor, as: "dana", mode)
    try anna()
    #expect(visitor.page?.address.path == "/of/anna")
    var earlier = try #require(visitor.jar["__Host-cordon"])
    let events = try site.gateway.connect()
    try events.send(
      "GET /events HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: __Host-cordon=\(earlier)\r\n\r\n")
    _ = try events.read(through: "data: first\n\n")
    for (user, finish) in [("ben", ben), ("dana", dana)] {
      try finish()
      #expect(visitor.page?.address.path == "/of/\(user)")
      #expect(try visitor.fetch(site.own("session")).text.contains(try site.apple.subject(of: user)))
      let old = try site.gateway.client.get("/.auth/session", fields: [("Cookie", "__Host-cordon=\(earlier)")])
      #expect(old.status == 401, "the session before \(user)'s")
      earlier = try #require(visitor.jar["__Host-cordon"])
    }
    try events.waitForClose()
    #expect(!visitor.jar.cookies.contains { $0.name.contains("-attempt-") })
  }

  @Test("The cookies of attempts that wait fit into a small proxy's buffer when a sign-in sets them again")
  func bounded() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    for index in 0..<5 { try visitor.start(site, returnTo: "/\(index)/" + String(repeating: "a", count: 900)) }
    try visitor.decide(.proceed(user: "anna"))
    let page = try visitor.carryBack(following: false)
    #expect(page.status == 303 && visitor.jar["__Host-cordon"] != nil)
    let head = page.response.setCookies.map(\.utf8.count).reduce(0, +)
    #expect(page.response.setCookies.count == 7 && head < 3_800, "\(head) bytes")
    #expect(page.response.setCookies.filter { $0.contains("-attempt-") }.allSatisfy { $0.contains("SameSite=None") })
  }

  @Test("The cookies of sign-ins with long addresses fit into a proxy's buffer, and the newest keeps its address")
  func longAddresses() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = Visitor()
    func path(_ index: Int) -> String { "/\(index)/" + String(repeating: "a", count: 1_900) }
    var answers: [HTMLForm] = []
    for index in 0..<5 {
      try visitor.start(site, returnTo: path(index))
      try visitor.decide(.proceed(user: "anna"))
      answers.append(try visitor.answerForm())
      let cookies = try #require(try visitor.cookieHeader(for: site.origin + "/"))
      #expect(cookies.utf8.count < 7_000, "\(cookies.utf8.count) bytes")
    }
    #expect(visitor.jar.cookies.count { $0.name.contains("-attempt-") } == 5)
    #expect(try visitor.carryBack(answers[4], following: false).response.location == path(4))
    try visitor.open("\(site.apple.baseURL)/simulator")
    #expect(try visitor.carryBack(answers[0], following: false).response.location == "/")
  }

  // MARK: Names

  nonisolated enum Variant: String, CaseIterable, Sendable {
    /// `code`: bound to the address that came with the name.
    case address, relayAddress
    /// `code`: nothing says whose it is.
    case noAddress, unverifiedAddress
    /// `code id_token`, and Apple's keys cannot be had: bound to the subject.
    case subject

    var isKept: Bool { self == .address || self == .relayAddress || self == .subject }
  }

  @Test("A name that waits in the browser is given to nobody but the user it came with", arguments: Variant.allCases)
  func names(variant: Variant) throws {
    let site = try Site(
      fakeClock: true,
      adjust: {
        $0["apple", "response_type"] = variant == .subject ? "\"code id_token\"" : "\"code\""
        if variant == .noAddress { $0["apple", "scopes"] = #"["name"]"# }
      })
    defer { site.stop() }
    for (id, name) in [("nora", "Nora"), ("otto", "Otto")] {
      try site.apple.add(user: [
        "id": id, "first_name": name, "last_name": "F", "email": "\(id)@example.com",
        "email_verified": variant != .unverifiedAddress,
      ])
    }
    let hides = variant == .relayAddress
    var ahead = 0
    func fails(_ visitor: Visitor, _ user: String) throws {
      try site.apple.fault(variant == .subject ? "keys" : "token", "status", ["status": 500])
      #expect(try visitor.signIn(site, as: user, hideEmail: hides).status == 503)
      #expect(visitor.jar["__Host-cordon"] == nil)
      try site.apple.behave()
      // The pause after a failed fetch of the keys is over.
      ahead += 90
      try site.setClock(secondsAhead: ahead)
    }
    // Apple sends Otto's name to another browser, and never again.
    try fails(Visitor(), "otto")
    let visitor = Visitor()
    try fails(visitor, "nora")
    #expect((visitor.jar["__Host-cordon-name"] != nil) == (variant != .noAddress))
    try visitor.signIn(site, as: "otto", hideEmail: hides)
    let otto = try visitor.fetch(site.own("session")).json()
    #expect(otto["sub"] as? String == (try site.apple.subject(of: "otto")))
    #expect(otto["name"] == nil)
    try visitor.signIn(site, as: "nora", hideEmail: hides)
    let nora = try visitor.fetch(site.own("session")).json()
    #expect(nora["sub"] as? String == (try site.apple.subject(of: "nora")))
    #expect(nora["name"] as? String == (variant.isKept ? "Nora F" : nil))
    if variant.isKept { #expect(visitor.jar["__Host-cordon-name"] == nil) }
  }

  // MARK: Other sites

  nonisolated static let foreign: [[(String, String)]] = [
    [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
    [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "frame")],
    [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "embed")],
    [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "object")],
    [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"), ("Sec-Purpose", "prefetch;prerender")],
    [("Sec-Fetch-Mode", "navigate"), ("Purpose", "prefetch")], [("X-Moz", "prefetch")],
  ]

  @Test("A frame, and a browser that loads ahead of time, start no attempt and take none away")
  func frames() throws {
    for showsPage in [true, false] {
      let site = try Site(adjust: { $0["pages", "show_sign_in_page"] = "\(showsPage)" })
      defer { site.stop() }
      let visitor = try site.beforeCallback(returnTo: "/mine")
      let cookie = try #require(try visitor.cookieHeader(for: site.origin + "/"))
      for fields in Self.foreign {
        for site_ in ["cross-site", "same-origin"] {
          let more = [("Cookie", cookie), ("Accept", "text/html"), ("Sec-Fetch-Site", site_)]
          let refused = try site.gateway.client.get("/.auth/authorize?return_to=%2Fevil", fields: fields + more)
          #expect(refused.status == 401 && refused.location == nil && refused.setCookies.isEmpty, "\(fields)")
          let page = try site.gateway.client.get("/.auth/sign-in", fields: fields + more)
          #expect(page.setCookies.isEmpty && page.location?.hasPrefix(site.apple.baseURL) != true, "\(fields)")
        }
      }
      #expect(try visitor.carryBack().address.path == "/mine")
    }
  }

  @Test("A page of another site that opens ours takes no attempt of the user's own away, and leaves little behind")
  func crossSiteNavigation() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = try site.beforeCallback(returnTo: "/mine")
    let form = try visitor.answerForm()
    let long = "/long/" + String(repeating: "a", count: 1_500)
    for _ in 0..<8 {
      try visitor.open("\(site.apple.baseURL)/simulator")
      let page = try visitor.follow(site.own("authorize?return_to=\(FormEncoding.escape(long))"), following: false)
      #expect(page.status == 302)
    }
    #expect(visitor.jar.cookies.count { $0.name.contains("-attempt-") } <= 3)
    #expect(try #require(try visitor.cookieHeader(for: site.origin + "/")).utf8.count < 2_000)
    // A short way back is kept, and the newest of them works.
    try visitor.open("\(site.apple.baseURL)/simulator")
    try visitor.follow(site.own("authorize?return_to=%2Fshort"))
    try visitor.decide(.proceed(user: "anna"))
    #expect(try visitor.carryBack().address.path == "/short")
    try visitor.open("\(site.apple.baseURL)/simulator")
    #expect(try visitor.carryBack(form).address.path == "/mine")
  }

  @Test("A page of a sibling host that opens ours takes no attempt of the user's own away, and leaves little behind")
  func siblingNavigation() throws {
    let site = try Site()
    defer { site.stop() }
    let visitor = try site.beforeCallback(returnTo: "/mine")
    let long = FormEncoding.escape("/long/" + String(repeating: "a", count: 1_500))
    let fields = [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    for _ in 0..<8 {
      let cookie = try #require(try visitor.cookieHeader(for: site.origin + "/"))
      let response = try site.gateway.client.get(
        "/.auth/authorize?return_to=\(long)", fields: fields + [("Cookie", cookie)])
      #expect(response.status == 302)
      visitor.jar.take(response, host: try WebAddress(site.origin).host)
    }
    #expect(visitor.jar.cookies.count { $0.name.contains("-attempt-") } <= 3)
    #expect(try #require(try visitor.cookieHeader(for: site.origin + "/")).utf8.count < 2_000)
    #expect(try visitor.carryBack().address.path == "/mine")
  }
}
