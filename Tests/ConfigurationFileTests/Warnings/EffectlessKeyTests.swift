import Testing

@testable import ConfigurationFile

@Suite("Warnings about keys and entries without effect")
struct EffectlessKeyTests {
  /// - Parameters:
  ///   - rest: more lines; the table before them is `[session]`.
  ///   - upstream: more lines of `[upstream]`.
  private func warnings(_ rest: String, upstream: String = "") throws -> [String] {
    let text = String(decoding: Sandbox.minimal(rest), as: UTF8.self)
      .replacing("[upstream]\n", with: "[upstream]\n\(upstream)")
    return try Sandbox.check(text.utf8).warnings.map(\.description)
  }

  /// Expects one warning, with this text.
  private func expect(
    _ text: String, _ rest: String, upstream: String = "", sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let found = try warnings(rest, upstream: upstream)
    #expect(found.count == 1 && found[0].contains(text), "\(rest): \(found)", sourceLocation: sourceLocation)
  }

  private static let group = "[[group]]\nname = \"staff\"\nmembers = [\"ada@example.com\"]\n"

  @Test("Settings of assertions without a key are a warning, and with one or without a header they are none")
  func assertions() throws {
    for line in ["lifetime = \"10m\"", "send_header = true", "claims = [\"email\"]"] {
      let key = line.split(separator: " ")[0]
      try expect("assertion.\(key) has no effect: without assertion.key_files", "[assertion]\n\(line)\n")
      let keys = "key_files = [\"assertion.pem\"]\naudience = \"orders\"\n"
      #expect(try warnings("[assertion]\n\(keys)\(line)\n") == [])
    }
    try expect("assertion.key_files is empty", "[assertion]\nkey_files = []\nlifetime = \"10m\"\n")
    #expect(try warnings("[assertion]\nsend_header = false\n") == [])
  }

  @Test("Fields of an access log and events of an audit log that are off are a warning")
  func logs() throws {
    try expect("log.access_fields has no effect, because log.access is false", "[log]\naccess_fields = [\"path\"]\n")
    let events = "[log]\naudit_events = [\"sign_in\"]\n"
    try expect("log.audit_events has no effect, because log.audit is false", events + "audit = false\n")
    #expect(try warnings(events + "access_fields = [\"path\"]\naccess = true\n") == [])
  }

  @Test("A queue without max_connections is a warning, unless another upstream inherits it")
  func queues() throws {
    let other = "[[upstreams]]\nname = \"other\"\nurl = \"http://127.0.0.1:3001\"\n"
    try expect("upstream.queue has no effect", "", upstream: "queue = 5\n")
    try expect("upstream.queue has no effect", other + "max_connections = 2\nqueue = 3\n", upstream: "queue = 5\n")
    try expect("upstreams.queue has no effect", other + "queue = 5\n")
    #expect(try warnings(other + "max_connections = 2\n", upstream: "queue = 5\n") == [])
    #expect(try warnings(other + "queue = 5\n", upstream: "max_connections = 2\n") == [])
    #expect(try warnings("", upstream: "max_connections = 2\nqueue = 5\n") == [])
  }

  @Test("A max_age that is longer than session.lifetime is a warning, on a route as well")
  func ages() throws {
    func lines(_ age: String, _ table: String) -> String { "lifetime = \"12h\"\n\(table)\nmax_age = \"\(age)\"\n" }
    try expect("access.max_age has no effect", lines("13h", "[access]"))
    try expect("route.max_age has no effect", lines("13h", "[[route]]\npath = \"/a/\""))
    #expect(try warnings(lines("12h", "[access]")) == [])
    #expect(try warnings(lines("1h", "[[route]]\npath = \"/a/\"")) == [])
  }

  @Test("verify.believe without a source of the path is a warning")
  func believed() throws {
    func lines(_ sources: String) -> String { "[verify]\nbelieve = [\(sources)]\n" }
    try expect("verify.believe names no source of the path", lines("\"X-Forwarded-For\", \"X-Forwarded-Method\""))
    for source in ["X-Original-URI", "X-Forwarded-Uri", "X-Original-URL", "path"] {
      #expect(try warnings(lines("\"X-Forwarded-For\", \"\(source)\"")) == [])
    }
    #expect(try warnings(lines("")) == [])
  }

  @Test("An entry that a list of rules has twice is a warning, on [access] and on a route")
  func repeatedRules() throws {
    let proxy = "[[listener]]\nname = \"a\"\naddress = \"127.0.0.1:8081\"\ntrusted_proxies = [\"10.0.0.1\"]\n"
    for (key, one, other) in [
      ("allow_subjects", "001.a", "001.a"), ("allow_emails", "ada@example.com", "Ada@example.com"),
      ("allow_email_domains", "example.com", "EXAMPLE.com"), ("allow_organizations", "1", "1"),
      ("allow_groups", "staff", "staff"), ("deny_groups", "staff", "staff"), ("deny_subjects", "001.a", "001.a"),
      ("deny_emails", "ada@example.com", "ADA@example.com"), ("networks", "10.0.0.0/8", "10.0.0.0/8"),
    ] {
      for (table, name) in [("[access]", "access"), ("[[route]]\npath = \"/a/\"", "route")] {
        let groups = key.hasSuffix("_groups") ? Self.group : ""
        let lines = "\(table)\n\(key) = [\"\(one)\", \"\(other)\"]\n"
        try expect("\(name).\(key) lists this twice; remove one of them", lines + groups + proxy)
      }
    }
  }

  @Test("An entry that another list has twice is a warning")
  func repeatedEntries() throws {
    try expect(
      "access.managers lists this twice",
      "[access]\nallow_groups = [\"staff\"]\nmanagers = [\"staff\", \"staff\"]\n" + Self.group)
    try expect("session.clear_site_data lists this twice", "clear_site_data = [\"cache\", \"storage\", \"cache\"]\n")
    try expect("identity.keep_headers lists this twice", "[identity]\nkeep_headers = [\"X-Real-IP\", \"x_real_ip\"]\n")
    try expect("upstream.lenient lists this twice", "", upstream: "lenient = [\"bare-lf\", \"bare-lf\"]\n")
    try expect("upstream.remove_headers lists this twice", "", upstream: "remove_headers = [\"X-A\", \"x-a\"]\n")
    try expect(
      "listener.trusted_proxies lists this twice",
      "[[listener]]\nname = \"a\"\naddress = \"127.0.0.1:8081\"\ntrusted_proxies = [\"10.0.0.1\", \"10.0.0.1\"]\n")
  }

  @Test("A refused address with letters beyond ASCII is a warning, and one that is admitted is none")
  func addressesBeyondASCII() throws {
    let address = "J\u{D6}RG@example.com"
    let said = "has letters beyond ASCII, which match in this spelling only"
    let denied = "deny_emails = [\"ada@example.com\", \"\(address)\"]\n"
    try expect("entry 2 of access.deny_emails \(said)", "[access]\n\(denied)")
    try expect("entry 2 of route.deny_emails \(said)", "[[route]]\npath = \"/a/\"\n\(denied)")
    let group = Self.group.replacing("\"ada@example.com\"", with: "\"ada@example.com\", \"@ex\u{E4}mple.com\"")
    try expect("entry 2 of group.members \(said)", "[access]\ndeny_groups = [\"staff\"]\n" + group)
    #expect(try warnings("[access]\nallow_emails = [\"\(address)\"]\n") == [])
    #expect(try warnings("[access]\nallow_groups = [\"staff\"]\n" + group) == [])
  }
}
