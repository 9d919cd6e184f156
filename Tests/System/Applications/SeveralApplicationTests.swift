import Foundation
import Testing

// Examples with several real applications behind one gateway. `make test-applications` runs them.
//
// - Nagios, Flask-AppBuilder and Django below prefixes of one host.
// - cgit, DokuWiki and WordPress on three hosts.

@SystemActor
@Suite("Several real applications")
struct SeveralApplicationTests {
  @Test("Nagios, Flask-AppBuilder and Django work below prefixes of one host, each for its users")
  func severalApplications() throws {
    let example = try Example("several-applications")
    defer { example.stop() }
    try example.startApplication(
      Machine.packageRoot.appending(path: "examples").path,
      environment: ["FLASK_GUNICORN": Machine.pythonProgram("gunicorn")])
    for port in [3_001, 3_002] as [UInt16] { try example.waitForListener(on: port) }
    try example.startGateway()
    #expect(try Visitor().open(example.origin + "/").text.contains("Monitoring"))
    let (visitor, page) = try example.signedIn(as: "anna", at: "/club/")
    #expect(page.text.contains("You are anna.bergstrom@example.com"), "\(page.text)")
    let admin = try visitor.open(example.origin + "/club/admin/")
    #expect(admin.status == 200 && admin.address.path == "/club/admin/")
    let sheet = try #require(HTMLTag.all(in: admin.text).first { $0.name == "link" }?["href"])
    #expect(sheet.hasPrefix("/club/static/"), "\(sheet)")
    #expect(try visitor.fetch(example.origin + sheet).status == 200)
    // Redirects to a log-in and back, below the prefix.
    let me = try visitor.open(example.origin + "/staff/me/")
    #expect(me.address.path == "/staff/me/" && me.text == "You are anna.bergstrom@example.com", "\(me.text)")
    let status = "/nagios4/cgi-bin/status.cgi?host=all"
    try poll("Nagios to write its status") {
      let page = try visitor.open(example.origin + status)
      return page.text.contains("Logged in as <i>anna.bergstrom</i>") && page.text.contains("greenhouse") ? () : nil
    }
    let paths = Set(visitor.jar.cookies.filter { ["session", "sessionid"].contains($0.name) }.map(\.path))
    #expect(paths == ["/staff", "/club"])

    try example.signIn(visitor, as: "ben")
    #expect(!visitor.jar.cookies.contains { ["session", "sessionid"].contains($0.name) })
    #expect(try visitor.open(example.origin + "/club/").text.contains("You are ben@example.org"))
    #expect(try visitor.open(example.origin + "/staff/me/").text == "You are ben@example.org")
    for path in [status, "/nagios4", "/nagios4/", "/cgi-bin/nagios4/status.cgi?host=all"] {
      #expect(try visitor.open(example.origin + path).status == 403, "\(path)")
    }
  }

  @Test("cgit, DokuWiki and WordPress on three hosts have one sign-in and one end")
  func severalHosts() throws {
    let example = try Example("several-hosts")
    let others = try ["dav-and-git", "fastcgi-behind-nginx", "wordpress"].map { try Example($0) }
    defer { for example in [example] + others { example.stop() } }
    let hosts = ["localhost", "wiki.localhost", "tickets.localhost"].map { "http://\($0):\(example.port(8_080))" }
    try others[0].startApplication()
    try others[1].startApplication()
    try others[2].startApplication(hosts[2])
    try others[1].waitForListener(on: 3_001)
    try example.change("gateway.conf") { text in
      zip([3_000, 3_001, 3_002] as [UInt16], others).reduce(text) { text, pair in
        text.replacing("127.0.0.1:\(example.port(pair.0))\"", with: "127.0.0.1:\(pair.1.port(3_000))\"")
      }
    }
    try example.startGateway()
    let (visitor, page) = try example.signedIn(as: "anna")
    #expect(page.text.contains("Git repository browser"), "\(page.text)")
    let wiki = try visitor.open(hosts[1] + "/doku.php?id=seeds&do=edit")
    #expect(wiki.text.contains("Anna Bergström") && wiki.address.target == "/doku.php?id=seeds&do=edit")
    let blog = try visitor.open(hosts[2] + "/wp-login.php")
    #expect(blog.text.contains("Allotment club"), "\(blog.text)")
    let signOut = try visitor.fetch(hosts[2] + "/.auth/sign-out", method: "POST", fields: [("Origin", hosts[2])])
    #expect([200, 204, 303].contains(signOut.status))
    for host in hosts { #expect(try visitor.open(host + "/").address.path == "/.auth/sign-in", "\(host)") }
  }
}
