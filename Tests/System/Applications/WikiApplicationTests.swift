import Foundation
import Testing

// MediaWiki of Debian, and Trac of PyPI, with their users from REMOTE_USER: titles that are hard for proxies, edits,
// one person after another at one browser.

@SystemActor
@Suite("MediaWiki and Trac")
struct WikiApplicationTests {
  @Test("MediaWiki knows its users from REMOTE_USER, keeps odd titles, and never takes one for another")
  func wiki() throws {
    let example = try Example("mediawiki", scheme: "https")
    defer { example.stop() }
    try example.startApplication(example.origin)
    // TLS ends before the gateway here.
    try example.startGateway()
    func user(_ page: Visitor.Page) -> String? {
      page.text.firstMatch(of: /"wgUserName":(null|"[^"]*")/).map { String($0.1) }
    }
    let (anna, page) = try example.signedIn(as: "anna")
    #expect(page.status == 200 && page.address.path == "/wiki/Main_Page", "\(page.address)")
    #expect(user(page) == "\"Anna.bergstrom\"", "\(page.text.prefix(2_000))")

    for (title, name) in [
      ("AC%2FDC", "AC/DC"), ("C%2B%2B", "C++"), ("50%25", "50%"), ("Semi;colon", "Semi;colon"), ("Star*", "Star*"),
      ("%C3%9Cbung", "Übung"),
    ] {
      let address = example.origin + "/wiki/" + title
      try anna.open(address + "?action=edit")
      let form = try #require(anna.page?.forms.first { $0.inputs.contains { $0.0 == "wpEditToken" } }, "\(title)")
      let saved = try anna.submit(form.filling(["wpTextbox1": "About \(name)"]), button: ("wpSave", "Save page"))
      #expect(saved.status == 200 && saved.text.contains("About \(name)"), "\(title): \(saved.status) \(saved.address)")
      #expect(saved.address.origin == example.origin)
    }
    let session = try #require(anna.jar.cookies.first { $0.name == "wiki_session" })

    // Ben's address is of another domain: nobody, whatever he sends, also with what Anna left in the browser.
    #expect(user(try example.signIn(anna, as: "ben", at: "/wiki/AC%2FDC")) == "null")
    anna.jar.set(session)
    for forged in ["Remote-User", "Remote_User", "X-Remote-User"] {
      let answer = try anna.fetch(example.origin + "/wiki/AC%2FDC", fields: [(forged, "anna.bergstrom")])
      #expect(answer.status == 200 && answer.text.contains("About AC/DC"))
      #expect(answer.text.contains("\"wgUserName\":null"), "\(forged)")
    }
    #expect(try !anna.open(example.origin + "/wiki/AC%2FDC?action=edit").text.contains("wpSave"))
  }

  @Test("Trac knows its users from REMOTE_USER, and its log-out signs out here, too")
  func trac() throws {
    let example = try Example("trac")
    defer { example.stop() }
    let made = try ServerProcess.run(
      Machine.pythonProgram("trac-admin"), ["env", "initenv", "Allotment club", "sqlite:db/trac.db"],
      directory: example.path, by: .seconds(60))
    #expect(made.exit == .code(0), "\(made.standardError)")
    try example.start(
      Machine.pythonProgram("gunicorn"), ["--bind", "127.0.0.1:\(example.port(3_000))", "club:application"],
      listeningOn: 3_000, environment: ["TRAC_ENV": "\(example.path)/env"], by: .seconds(60))
    try example.startGateway()
    func user(_ page: Visitor.Page) -> String? {
      page.text.firstMatch(of: /logged in as <span class="trac-author-user">([^<]*)/).map { String($0.1) }
    }
    let (visitor, page) = try example.signedIn(as: "anna", at: "/wiki")
    #expect(page.status == 200 && user(page) == "anna.bergstrom", "\(page.status) \(page.text.prefix(2_000))")
    let form = try #require(
      try visitor.open(example.origin + "/newticket").forms.first { $0.inputs.contains { $0.0 == "field_summary" } })
    let saved = try visitor.submit(
      form.filling(["field_summary": "Water the beans"]), button: ("submit", "Create ticket"))
    #expect(saved.address.path == "/ticket/1" && saved.text.contains("Water the beans"), "\(saved.address)")

    let ben = try example.signIn(visitor, as: "ben", at: "/ticket/1")
    #expect(ben.text.contains("Water the beans") && user(ben) == nil)
    let forged = try visitor.fetch(
      example.origin + "/wiki", fields: [("Remote-User", "anna.bergstrom"), ("Remote_User", "a")])
    #expect(!forged.text.contains("logged in as"))
    let question = try visitor.open(example.origin + "/logout")
    let out = try visitor.submit(try #require(question.forms.first))
    #expect(out.text.contains("signed out"), "\(out.status) \(out.text)")
    #expect(try visitor.open(example.origin + "/wiki").address.path == "/.auth/sign-in")
  }
}
