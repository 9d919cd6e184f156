import Testing

@testable import ConfigurationFile

// Configurations that are valid, and admit more users than somebody who reads them expects.
@Suite("Warnings about access that is more open than it looks")
struct OpenAccessTests {
  private func warnings(_ rest: String, upstream: String = "") throws -> [String] {
    let text = String(decoding: Sandbox.minimal(rest), as: UTF8.self)
      .replacing("[upstream]\n", with: "[upstream]\n\(upstream)")
    return try Sandbox.check(text.utf8).warnings.map(\.description)
  }

  private func route(_ path: String, _ lines: String) -> String { "[[route]]\npath = \"\(path)\"\n\(lines)\n" }

  // MARK: [access] without effect

  private static let listed = "[access]\nallow_emails = [\"ada@example.com\"]\n"

  @Test(
    "Allow lists of [access] are a warning where a route for every path admits others",
    arguments: [
      ("access = \"public\"", "needs no sign-in"), ("access = \"signed-in\"", "has no allow list"),
      ("allow_email_domains = [\"example.org\"]", "has allow lists of its own"),
    ])
  func overriddenLists(access: String, effect: String) throws {
    let found = try warnings(Self.listed + route("/", access))
    #expect(
      found == [
        "gateway.conf:14:1: warning: the allow lists of [access] have no effect: route \"/\" (line 17) is for every "
          + "path, and \(effect); remove access from that route, or write the path that is meant; or remove "
          + "the lists here"
      ])
  }

  @Test("Allow lists of [access] are no warning where a request is decided by them, or nobody is admitted instead")
  func effectiveLists() throws {
    let everybody = "access = \"public\""
    let host = "[[host]]\nname = \"wiki.example.com\"\n"
    for routes in [
      "", route("/", "unauthenticated = \"401\""), route("/public/", everybody), route("/", "access = \"deny\""),
      route("/", "match = \"exact\"\n\(everybody)"), route("/", "methods = [\"GET\", \"POST\"]\n\(everybody)"),
      // The lists decide on the other host.
      host + route("/", everybody),
    ] {
      let found = try warnings(Self.listed + routes).filter { $0.contains("have no effect") }
      #expect(found.isEmpty, "\(routes): \(found)")
    }
    let all = try warnings(Self.listed + host + route("/", everybody + "\nhost = \"*\""))
    #expect(all.contains { $0.contains("the allow lists of [access] have no effect") }, "\(all)")
  }

  @Test(
    "A condition of [access] is a warning where every path is public",
    arguments: [
      ("networks", "networks = [\"10.0.0.0/8\"]"), ("private_email", "private_email = \"deny\""),
      ("require_claims", "require_claims = [\"org_id=4\"]"),
    ])
  func overriddenConditions(key: String, line: String) throws {
    func found(_ routes: String) throws -> [String] {
      try warnings("[access]\n\(line)\n" + routes).filter { $0.contains("access.\(key) has no effect") }
    }
    let everybody = route("/", "access = \"public\"")
    let open = try found(everybody)
    #expect(open.count == 1 && open[0].contains("route \"/\" (line 17) is public and for every path"), "\(open)")
    #expect(try found(everybody + route("/closed/", "access = \"deny\"")).count == 1)
    #expect(try found(everybody + route("/members/", "access = \"signed-in\"")) == [])
    #expect(try found(route("/", "access = \"signed-in\"")) == [])
  }

  // MARK: Hosts without a rule

  @Test("A host without a rule of its own is a warning where a route restricts every path of public_url")
  func openHosts() throws {
    let hosts = """
      [[upstreams]]
      name = "wiki"
      url = "http://127.0.0.1:3001"
      [[host]]
      name = "wiki.example.com"
      upstream = "wiki"

      """
    let restricted = route("/", "allow_emails = [\"ada@example.com\"]")
    let found = try warnings(hosts + restricted)
    #expect(
      found == [
        "gateway.conf:17:1: warning: no allow list restricts this host: route \"/\" (line 21), which restricts every "
          + "path of public_url, does not hold here; write host = \"*\" in that route, or write its lists into "
          + "[access]; or state access in a route of this host"
      ])
    let narrowed = try warnings(hosts + restricted + "[access]\nprivate_email = \"deny\"\n")
    #expect(narrowed.count == 1 && narrowed[0].contains("no allow list restricts this host"), "\(narrowed)")
    let routed = route("/x/", "upstream = \"default\"\nhost = \"wiki.example.com\"")
    #expect(try warnings(hosts + restricted + routed).count == 1)
    // A host of the same application has a warning already.
    let same = try warnings(hosts.replacing("upstream = \"wiki\"", with: "upstream = \"default\"") + restricted)
    #expect(same.count == 1 && same[0].contains("this host leads to an application of public_url"), "\(same)")
    for rest in [
      route("/", "access = \"signed-in\""), route("/admin/", "allow_emails = [\"ada@example.com\"]"),
      route("/", "allow_emails = [\"ada@example.com\"]\nhost = \"*\""),
      restricted + route("/", "access = \"signed-in\"\nhost = \"wiki.example.com\""),
      restricted + "[access]\nrequire_claims = [\"org_id=4\"]\n",
      restricted + "[access]\nallow_emails = [\"ada@example.com\"]\n",
    ] {
      let others = try warnings(hosts + rest)
      #expect(others.isEmpty, "\(rest): \(others)")
    }
  }

  // MARK: Mail providers

  @Test("The domain of a mail provider is a warning in each list, and in the members of a group that admits")
  func mailProviders() throws {
    for table in ["[access]", "[[route]]\npath = \"/a/\""] {
      let found = try warnings("\(table)\nallow_email_domains = [\"example.com\", \"iCloud.com\", \"example.org\"]\n")
      #expect(found.count == 1 && found[0].contains("\"iCloud.com\" is a mail provider's domain"), "\(found)")
    }
    let narrowed = try warnings("[access]\nallow_email_domains = [\"icloud.com\"]\nprivate_email = \"deny\"\n")
    #expect(narrowed.count == 1 && narrowed[0].contains("can have an address there; list"), "\(narrowed)")
    let group = "[[group]]\nname = \"staff\"\nmembers = [\"ada@gmail.com\", \"@example.com\", \"@Gmail.com\"]\n"
    for use in ["allow_groups = [\"staff\"]", "allow_emails = [\"ada@example.com\"]\nmanagers = [\"staff\"]"] {
      let found = try warnings("[access]\n\(use)\n" + group)
      #expect(found.count == 1 && found[0].contains("\"@Gmail.com\" is a mail provider's domain"), "\(found)")
    }
    #expect(try warnings("[access]\ndeny_groups = [\"staff\"]\n" + group) == [])
    #expect(try warnings("[access]\nallow_email_domains = [\"gmail.com.example.org\", \"mail.example.com\"]\n") == [])
  }

  // MARK: Names

  @Test("A header that names the user by a name of the user's choice is a warning, for each way to send it")
  func chosenNames() throws {
    let said = "is only a name, which users choose for themselves"
    for (header, value) in [
      ("Remote-User", "name"), ("X-WEBAUTH-USER", "{given_name}.{family_name}"), ("X-Forwarded-Login", "{name|lower}"),
      ("X-Auth-Username", "given_name"), ("x_remote_userid", "name"),
    ] {
      let identity = try warnings("[identity.headers]\n\(header) = \"\(value)\"\n")
      #expect(identity.count == 1 && identity[0].contains("identity.headers.\(header) \(said)"), "\(identity)")
      if !value.utf8.contains(UInt8(ascii: "{")) { continue }
      let upstream = try warnings("", upstream: "headers = { \(header) = \"\(value)\" }\n")
      #expect(upstream.count == 1 && upstream[0].contains("upstream.headers.\(header) \(said)"), "\(upstream)")
    }
    let basic = try warnings("", upstream: "basic = { user = \"{name}\", password = \"x\" }\n")
    #expect(basic.count == 1 && basic[0].contains("upstream.basic.user \(said)"), "\(basic)")
  }

  @Test(
    "A claim without braces in a header of an upstream is a warning: it would be the same text for every user",
    arguments: ["email", "$email", "{{email}}", "{{email}"])
  func claimsWithoutBraces(text: String) throws {
    let said = "is a text without a claim: the application gets the same for every user; write \"{email}\""
    let header = try warnings("", upstream: "headers = { X-Remote-User = \"\(text)\" }\n")
    #expect(header.count == 1 && header[0].contains("upstream.headers.X-Remote-User \(said)"), "\(header)")
    let basic = try warnings("", upstream: "basic = { user = \"\(text)\", password = \"x\" }\n")
    #expect(basic.count == 1 && basic[0].contains("upstream.basic.user \(said)"), "\(basic)")
  }

  @Test("A user name that is the local part of a mail provider's address is a warning, of another domain it is not")
  func localPartsOfProviders() throws {
    func found(_ domain: String) throws -> [String] {
      try warnings("", upstream: "headers = { Remote-User = \"{email|local:\(domain)|lower}\" }\n")
    }
    let provider = try found("iCloud.com")
    #expect(provider.count == 1 && provider[0].contains("\"iCloud.com\" is a mail provider's domain"), "\(provider)")
    #expect(provider.first?.contains("the user name that upstream.headers.Remote-User sends") == true, "\(provider)")
    #expect(try found("example.com") == [])
    let identity = try warnings("[identity.headers]\nX-User = \"{email|local:gmail.com}\"\n")
    #expect(identity.count == 1 && identity[0].contains("identity.headers.X-User sends"), "\(identity)")
  }

  @Test("A header with a name is no warning if it has more in it, or is not about who the user is")
  func otherNames() throws {
    for line in [
      "X-Forwarded-Name = \"name\"", "Remote-User = \"sub\"", "Remote-User = \"email\"",
      "X-Display-Name = \"{given_name} {family_name}\"", "Remote-User = \"{name} {sub}\"",
    ] {
      #expect(try warnings("[identity.headers]\n\(line)\n") == [], "\(line)")
    }
    #expect(try warnings("", upstream: "headers = { X-User = \"fixed\" }\n") == [])
    #expect(try warnings("", upstream: "basic = { user = \"{email}\", password = \"{name}\" }\n") == [])
  }
}
