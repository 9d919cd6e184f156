import AccessPolicy
import Testing

@Suite("Diagnostics about routes")
struct RouteDiagnosticTests {
  @Test(
    "A path that is not a canonical prefix is a problem with a remedy",
    arguments: [
      ("public/", "begins with"), ("", "begins with"), ("/public/*", "write \"/public/\" for everything below it"),
      ("^/api/.*", "not a pattern: write \"/api/\""), ("~ ^/api/v1/.+$", "not a pattern: write \"/api/v1/\""),
      ("^/api", "not a pattern: write \"/api\""), ("/api/x$", "not a pattern: write \"/api/x\""),
      ("/api/{id}/x", "not a pattern: write \"/api/\""), ("/api/<id>", "not a pattern: write \"/api/\""),
      ("/*", "not a pattern: write \"/\" for everything"), ("^/.*", "not a pattern: write \"/\""),
      ("*.php", "not a pattern: write \"/public/\", for instance"),
      ("/users/:id", "not a pattern"),
      ("/a?b", "no query"), ("/a/../b", "the path they lead to"), ("/a b", "percent-encoded"),
      ("/gr\u{FC}n", "percent-encoded"),
      ("/a//b", "one slash"), ("//a", "one slash"), ("/a;b", "more than one way"), ("/%61", "more than one way"),
      ("/a%2Fb", "more than one way"), ("/a\\b", "more than one way"), ("/%", "more than one way"),
      ("/(S(x))/a", "the path without it"),
    ])
  func path(path: String, remedy: String) {
    let found = problems([RouteSettings(path: path, access: .public)])
    #expect(found.count == 1 && found[0].route == 0)
    let text = found.first.map { "\($0.problem): \($0.remedy)" } ?? ""
    #expect(text.contains(remedy), "\(found)")
  }

  @Test("A remedy is whole, whatever characters it names")
  func wholeRemedy() throws {
    let found = try #require(problems([RouteSettings(path: "/a;b", access: .public)]).first)
    #expect(found.problem == "route \"/a;b\": servers read this path in more than one way")
    #expect(found.remedy.hasPrefix("write plain letters without \";\", \"\\\" and"), "\(found)")
    #expect(found.remedy.hasSuffix("control bytes"), "\(found)")
  }

  @Test("All problems are told at once, each with its route")
  func all() {
    let found = problems([
      RouteSettings(path: "x", access: .public), RouteSettings(path: "/ok", access: .public),
      RouteSettings(path: "/y*", access: .deny),
    ])
    #expect(found.map(\.route) == [0, 2])
  }

  @Test("A path twice, or twice but for case or the last slash with another access, is a problem")
  func twins() {
    #expect(problems([.init(path: "/a", access: .public), .init(path: "/a", access: .public)]).count == 1)
    #expect(problems([.init(path: "/a/", access: .public), .init(path: "/A/", access: .deny)]).count == 1)
    #expect(problems([.init(path: "/a", access: .public), .init(path: "/a/", access: .deny)]).count == 1)
    #expect(problems([.init(path: "/a", access: .public), .init(path: "/a/", access: .public)]).isEmpty)
    #expect(problems([.init(path: "/%C3%A9/", access: .public), .init(path: "/%c3%a9/", access: .deny)]).count == 1)
  }

  @Test("Rules that let nobody in, and lists of what is not an address or domain, are problems")
  func rules() {
    #expect(problem { _ in }.contains("all empty"))
    #expect(problem { $0.emails = ["example.com"] }.contains("not an address"))
    #expect(problem { $0.emails = ["@example.com"] }.contains("not an address"))
    #expect(problem { $0.emails = ["a@example.org,b@example.com"] }.contains("not an address"))
    #expect(problem { $0.emailDomains = ["@example.com"] }.contains("not a domain"))
    #expect(problem { $0.emailDomains = ["*.example.com"] }.contains("not a domain"))
    #expect(problem { $0.subjects = [""] }.contains("empty text"))
    #expect(problem { $0.subjects = ["001"] }.isEmpty)
  }

  @Test(
    "A text that no identity token has as its subject is a problem in each list of subjects",
    arguments: [
      ("001.a ", "has a space"), (" 001.a", "has a space"), ("001 a", "has a space"),
      ("001.a\u{200B}", "not printable ASCII"), ("001.\u{E9}", "not printable ASCII"),
      ("001.a\t", "not printable ASCII"), (String(repeating: "1", count: 256), "more than 255 bytes"),
    ])
  func impossibleSubjects(subject: String, flaw: String) {
    let allowed = problem { $0.subjects = ["001.a", subject] }
    #expect(allowed.contains("entry 2 of allow_subjects has") && allowed.contains(flaw), "\(allowed)")
    var settings = RouteSettings(path: "/x")
    settings.conditions.denied.subjects = ["001.a", subject]
    let denied = problems([settings])
    #expect(denied.map(\.key) == ["deny_subjects"] && denied.map(\.entry) == [1], "\(denied)")
    #expect(denied.first?.problem.contains(flaw) == true, "\(denied)")
    settings.conditions.denied.subjects = ["001.a", "001.A", String(repeating: "1", count: 255), "'001.a'"]
    #expect(problems([settings]).isEmpty)
  }

  @Test(
    "A character that nobody sees is a problem in each list of addresses and domains",
    arguments: ["\u{200B}", "\u{FEFF}", "\u{AD}", "\u{200E}", "\u{2060}"])
  func invisible(character: String) {
    let flaw = "has an invisible character"
    let address = problem { $0.emails = ["a@example.com", "b@example.com\(character)"] }
    #expect(address.contains("entry 2 of allow_emails \(flaw)"), "\(address)")
    let domain = problem { $0.emailDomains = ["exam\(character)ple.com"] }
    #expect(domain.contains("entry 1 of allow_email_domains \(flaw)"), "\(domain)")
    #expect(problem { $0.emails = ["j\u{F6}rg@example.com"] }.isEmpty)
    // "Letter" in Persian, whose parts a joiner keeps apart.
    let letter = "\u{646}\u{627}\u{645}\u{647}\u{200C}\u{627}\u{6CC}"
    #expect(problem { $0.emails = ["ada@\(letter).example"] }.isEmpty)
    #expect(problem { $0.emailDomains = ["\(letter).example"] }.isEmpty)
    #expect(problem { $0.emails = ["ada@\(letter).example\u{200C}"] }.contains(flaw))
    var settings = RouteSettings(path: "/x")
    settings.conditions.denied.emails = ["a@example.com", "\(character)b@example.com"]
    let denied = problems([settings])
    #expect(denied.map(\.key) == ["deny_emails"] && denied.map(\.entry) == [1], "\(denied)")
    #expect(denied.first?.problem.contains(flaw) == true, "\(denied)")
    // Malformed as well, of another list or a pattern: told once.
    for other in ["b@@example.com\(character)", "exam\(character)ple.com", "*@example.com\(character)"] {
      settings.conditions.denied.emails = [other]
      #expect(problems([settings]).count == 1, "\(other)")
    }
  }

  private func problem(_ edit: (inout AccessLists) -> Void) -> String {
    var lists = AccessLists()
    edit(&lists)
    return problems([RouteSettings(path: "/x", access: .lists(lists))]).map(\.problem).joined()
  }

  private func problems(_ routes: [RouteSettings]) -> [RouteDiagnostic] {
    do {
      _ = try RouteTable(routes: routes)
      return []
    } catch {
      return error.problems
    }
  }
}
