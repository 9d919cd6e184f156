import Foundation
import TemporaryDirectoryTesting
import Testing

// The people page.
//
// - Managers with a recent sign-in see it; others are refused, an old sign-in is renewed, also at the POST.
// - Add, remove, ban, unban, end one session and all, each audited with the manager's keyed hash.
// - No act names a group of managers, a denied group or another manager.
// - Search and pages; members by configuration.

@SystemActor
@Suite("The people page")
struct PeopleTests {
  @Test("Managers see the page, others are refused, and without managers the page is missing")
  func whoSeesIt() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let anna = try site.signedIn()
    let subject = FormEncoding.escape(try site.apple.subject(of: "anna"))
    for path in ["people", "people?person=\(subject)", "people?person=\(subject)&ask=ban", "account", "account/stop"] {
      let page = try anna.open(site.own(path))
      #expect(page.status == 200, "\(path)")
      // No page of another origin has it in its process, or the window that shows it.
      for name in ["Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy"] {
        #expect(page.response.fields[name] == "same-origin", "\(path)")
      }
    }
    let session = try anna.fetch(site.own("session"))
    #expect(session.status == 200 && session.fields["Cross-Origin-Resource-Policy"] == "same-origin")
    let ben = try site.signedIn(as: "ben")
    #expect(try ben.open(site.own("people")).status == 403)
    let own = [("Origin", site.origin)]
    #expect(try ben.fetch(site.own("people"), method: "POST", fields: own).status == 403)
    let stranger = try Visitor().open(site.own("people"), following: false)
    #expect(
      stranger.status == 302 && stranger.response.location?.contains("/.auth/sign-in?return_to=/.auth/people") == true)
    let none = try AccessSite.make(also: { $0["access", "managers"] = nil })
    defer { none.stop() }
    #expect(try none.signedIn().open(none.own("people")).status == 404)
  }

  @Test("A sign-in older than an hour is renewed first, and an act with one changes nothing")
  func age() throws {
    let site = try AccessSite.make(fakeClock: true)
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    let anna = try site.signedIn()
    try anna.open(site.own("people"))
    let subject = try site.apple.subject(of: "ben")
    let page = try anna.open(site.own("people?person=\(FormEncoding.escape(subject))"))
    let add = try page.form("add").filling(["group": "guests"])
    try site.setClock(secondsAhead: 3_700)
    let late = try anna.submit(add, following: false)
    #expect(late.status == 401 && late.text.contains("Please sign in again"))
    #expect(late.text.contains("/.auth/sign-in?return_to=/.auth/people"), "\(late.text)")
    let again = try anna.open(site.own("people"), following: false)
    #expect(again.status == 302 && again.response.location?.contains("/.auth/sign-in") == true)
    #expect(try ben.open("\(site.origin)/").status == 403)
    try anna.signIn(site, as: "anna", returnTo: "/.auth/people")
    #expect(anna.page?.status == 200 && anna.page?.address.path == "/.auth/people")
  }

  @Test("The people page says of an address that Apple has not verified it, in requests, in the list and of a person")
  func unverifiedAddress() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    try site.apple.add(user: ["id": "mal", "first_name": "M", "email": "chief@example.com", "email_verified": false])
    let mal = try site.signedIn(as: "mal")
    let own = [("Origin", site.origin), ("Accept", "application/json")]
    #expect(try mal.fetch(site.own("request-access"), method: "POST", fields: own).status == 200)
    let anna = try site.signedIn()
    let note = "Apple has not verified this address."
    let page = try anna.open(site.own("people"))
    // Once in the request and once in the list; Anna's own address is verified.
    #expect(page.text.ranges(of: note).count == 2, "\(page.text)")
    let subject = try site.apple.subject(of: "mal")
    let person = try anna.open(site.own("people?person=\(FormEncoding.escape(subject))"))
    #expect(person.text.ranges(of: note).count == 1, "\(person.text)")
  }

  @Test("A manager adds, removes, bans, lifts the ban and ends sessions, and the audit names the manager each time")
  func acts() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    let other = try site.signedIn(as: "ben")
    let anna = try site.signedIn()
    let subject = try site.apple.subject(of: "ben")
    let address = site.own("people?person=\(FormEncoding.escape(subject))")
    #expect(try anna.open(site.own("people")).text.contains("ben@example.org"))

    var page = try anna.open(address)
    page = try anna.submit(try page.form("add").filling(["group": "guests"]))
    #expect(page.status == 200 && page.address.description.hasPrefix(address) && page.text.contains("role=\"status\""))
    #expect(try ben.open("\(site.origin)/", following: false).status != 403)
    page = try anna.submit(try page.form("remove", "group", "guests"))
    #expect(page.status == 200)
    #expect(try ben.open("\(site.origin)/").status == 403)

    // One session, then all others, after a question.
    #expect(page.forms("end-session").count == 2)
    page = try anna.submit(try page.form("end-session"))
    let alive = try [ben, other].filter { try $0.fetch(site.own("session")).status == 200 }
    #expect(alive.count == 1 && page.forms("end-session").count == 1)
    var question = try anna.open(address + "&ask=end-sessions")
    page = try anna.submit(try question.form("end-sessions"))
    #expect(page.forms("end-session").isEmpty)
    for visitor in [ben, other] { #expect(try visitor.fetch(site.own("session")).status == 401) }

    question = try anna.open(address + "&ask=ban")
    page = try anna.submit(try question.form("ban").filling(["reason": "left <the> company", "until": "2999-12-31"]))
    #expect(page.text.contains("left &lt;the&gt; company") && page.text.contains("2999"))
    let refused = Visitor()
    try refused.signIn(site, as: "ben")
    #expect(refused.jar["__Host-cordon"] == nil && refused.page?.status == 403)
    page = try anna.submit(try page.form("unban"))
    #expect(page.forms("unban").isEmpty)
    _ = try site.signedIn(as: "ben")

    try site.gateway.waitForLog("\"act\":\"unban\"")
    let signIn = try #require(site.audit("sign_in").first { $0["user"] as? String != nil && isAnna($0, site) })
    for act in ["group_add", "group_remove", "end_session", "end_sessions", "ban", "unban"] {
      let line = try #require(site.audit("administration").first { $0["act"] as? String == act }, "\(act)")
      #expect(line["by"] as? String == signIn["user"] as? String, "\(act)")
      #expect(line["failed"] == nil && line["user"] is String, "\(act)")
    }
  }

  /// Anna is the last of those who signed in before she did anything.
  private func isAnna(_ line: [String: Any], _ site: Site) -> Bool {
    let managers = Set(site.audit("administration").compactMap { $0["by"] as? String })
    return (line["user"] as? String).map(managers.contains) ?? false
  }

  @Test("No act names a group of managers, a denied group or another manager, and each attempt is audited")
  func limits() throws {
    let site = try AccessSite.make(also: {
      $0["admin", "token_file"] = "\"admin.token\""
      $0.ending = $0.ending.replacing(
        #"members = ["anna.bergstrom@example.com"]"#,
        with: #"members = ["anna.bergstrom@example.com", "mona@example.com"]"#)
    })
    defer { site.stop() }
    for user in ["mona", "carl"] { try AccessSite.addUser(user, to: site) }
    let mona = try site.signedIn(as: "mona")
    _ = try site.signedIn(as: "ben")
    let anna = try site.signedIn()
    let (ben, other) = (try site.apple.subject(of: "ben"), try site.apple.subject(of: "mona"))
    let page = try anna.open(site.own("people?person=\(FormEncoding.escape(other))"))
    #expect(page.status == 200 && page.forms.isEmpty)
    for group in ["managers", "blocked"] { try site.gateway.order("POST", "/invitations", ["group": group]) }
    let carl = try site.signedIn(as: "carl")
    let asked = try carl.fetch(site.own("request-access"), method: "POST", fields: [("Origin", site.origin)])
    let code = try #require(site.code(in: asked.text))
    let session = try #require(try mona.fetch(site.own("session")).json()["session_id"] as? String)
    // The page offers no button for them; their names are in the administration's list.
    let people = try anna.open(site.own("people"))
    #expect(people.forms("revoke").isEmpty && people.text.contains("managers"))
    let invitations = try site.gateway.admin.get(
      "/invitations", fields: [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")])
    let ids = (try invitations.json()["invitations"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    #expect(ids.count == 2)
    var attempts: [[(String, String)]] = [
      [("act", "add"), ("person", ben), ("group", "managers")],
      [("act", "add"), ("person", ben), ("group", "blocked")],
      [("act", "remove"), ("person", ben), ("group", "managers")],
      [("act", "add"), ("person", other), ("group", "guests")], [("act", "ban"), ("person", other)],
      [("act", "unban"), ("person", other)], [("act", "end-sessions"), ("person", other)],
      [("act", "end-session"), ("person", other), ("session", session)],
      [("act", "admit"), ("code", code), ("group", "managers")],
      [("act", "admit"), ("code", code), ("group", "blocked")],
      [("act", "invite"), ("id", "abcd2345"), ("group", "managers"), ("uses", "1"), ("days", "1")],
      [("act", "invite"), ("id", "abcd2345"), ("group", "blocked"), ("uses", "1"), ("days", "1")],
    ]
    attempts += ids.map { [("act", "revoke"), ("id", $0)] }
    for inputs in attempts {
      let form = HTMLForm(action: "/.auth/people", method: "POST", inputs: inputs, buttons: [])
      try anna.open(site.own("people"))
      #expect(try anna.submit(form, following: false).status == 403, "\(inputs)")
    }
    // Another manager's session under the name of somebody else.
    try anna.open(site.own("people"))
    let inputs = [("act", "end-session"), ("person", ben), ("session", session)]
    try anna.submit(HTMLForm(action: "/.auth/people", method: "POST", inputs: inputs, buttons: []))
    #expect(try mona.fetch(site.own("session")).status == 200)
    #expect(try carl.fetch(site.origin + "/").status == 403)
    try site.gateway.waitForLog("\"failed\":\"protected\"", count: attempts.count)
    // From elsewhere, nothing is done at all.
    let cookie = try #require(try anna.cookieHeader(for: site.own("people")))
    let foreign = try site.gateway.client.post(
      "/.auth/people", form: [("act", "ban"), ("person", ben)],
      fields: [("Cookie", cookie), ("Origin", "http://evil.example")])
    #expect(foreign.status == 403)
    #expect(!site.audit("administration").contains { $0["act"] as? String == "ban" && $0["failed"] == nil })
  }

  @Test("An act whose body is held back until its manager is one no longer is refused")
  func heldBody() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    let anna = try site.signedIn()
    try anna.open(site.own("people"))
    let cookie = try #require(try anna.cookieHeader(for: site.own("people")))
    let body = FormEncoding.encode([("act", "add"), ("person", try site.apple.subject(of: "ben")), ("group", "guests")])
    let held = try site.gateway.connect()
    defer { held.close() }
    try held.send(
      "POST /.auth/people HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nOrigin: \(site.origin)\r\n"
        + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n"
        + "Cookie: \(cookie)\r\n\r\n\(body.prefix(5))")
    // Behind the head, on the same loop or another: it has been decided on.
    #expect(try anna.fetch(site.own("people")).status == 200)
    var configuration = site.gateway.configuration
    configuration["access", "managers"] = "[\"blocked\"]"
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try poll("the reload") { try anna.fetch(site.own("people")).status == 403 ? () : nil }
    try held.send(String(body.dropFirst(5)))
    #expect(try HTTPResponse.read(from: held).status == 403)
    #expect(try ben.fetch(site.origin + "/").status == 403)
  }

  @Test("The form of an invitation makes one, and shows the same link however often it is sent")
  func onlyOneInvitation() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    let anna = try site.signedIn()
    let page = try anna.open(site.own("people"))
    let form = try page.form("invite").filling(["group": "guests", "uses": "3", "days": "7"])
    let links = try (0..<2).map { _ in
      try anna.submit(form).text.firstMatch(of: /\/\.auth\/invite\/[A-Za-z0-9_-]{22}/).map { String($0.output) }
    }
    #expect(links[0] != nil && links[0] == links[1])
    let other = try anna.submit(form.filling(["group": "staff", "uses": "3", "days": "7"]))
    #expect(other.address.path == "/.auth/people" && !other.text.contains("/.auth/invite/"), "not that of the form")
    #expect(other.forms("revoke").count == 1, "\(other.text)")
    let next = try other.form("invite").filling(["group": "guests", "uses": "1", "days": "7"])
    #expect(try anna.submit(next).text.contains("/.auth/invite/"))
    #expect(try anna.open(site.own("people")).forms("revoke").count == 2)
  }

  @Test("A member by configuration is shown as one, and removing says that the configuration has to change")
  func configured() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    try AccessSite.addUser("sten", domain: "staff.example", to: site)
    _ = try site.signedIn(as: "sten")
    let anna = try site.signedIn()
    let subject = try site.apple.subject(of: "sten")
    let page = try anna.open(site.own("people?person=\(FormEncoding.escape(subject))"))
    #expect(page.text.contains("by configuration") && page.forms("remove").isEmpty)
    let form = HTMLForm(
      action: "/.auth/people", method: "POST",
      inputs: [("act", "remove"), ("person", subject), ("group", "staff")], buttons: [])
    let answer = try anna.submit(form)
    #expect(answer.status == 200 && answer.text.contains("members_file"))
  }

  @Test("The list goes on from page to page, and finds people by name, address and identifier")
  func pages() throws {
    let site = try AccessSite.make()
    defer { site.stop() }
    for index in 0..<27 {
      try AccessSite.addUser("user\(index)x", to: site)
      _ = try site.signedIn(as: "user\(index)x")
    }
    let anna = try site.signedIn()
    let first = try anna.open(site.own("people"))
    let next = try #require(HTMLTag.all(in: first.text).first { $0["rel"] == "next" }?["href"])
    let second = try anna.follow(next)
    func shown(_ page: Visitor.Page) -> Set<String> {
      Set(page.text.matches(of: /user\d+x@example\.com/).map { String($0.output) })
    }
    #expect(shown(first).isDisjoint(with: shown(second)))
    #expect(shown(first).union(shown(second)).count == 27)
    #expect(!HTMLTag.all(in: second.text).contains { $0["rel"] == "next" })
    #expect(shown(try anna.open(site.own("people?q=USER7X"))) == ["user7x@example.com"])
    let subject = try site.apple.subject(of: "user9x")
    #expect(shown(try anna.open(site.own("people?q=\(FormEncoding.escape(subject))"))) == ["user9x@example.com"])
    #expect(shown(try anna.open(site.own("people?q=nobody"))).isEmpty)
  }
}
