import Glibc
import Testing

@testable import ConfigurationFile

// Hosts on which more users are admitted than the routes of other hosts let one expect.
@Suite("Warnings about the access on several hosts")
struct HostWarningTests {
  /// The warnings, without the location, about a configuration with two hosts. The text begins in line 24.
  private func warnings(_ rest: String, upstream: String = "wiki") throws -> [String] {
    let text = """
      [[upstreams]]
      name = "wiki"
      url = "http://127.0.0.1:3001"
      [[host]]
      name = "wiki.example.com"
      upstream = "\(upstream)"
      [[host]]
      name = "tickets.example.com"
      upstream = "\(upstream)"
      [access]
      requests = false
      \(rest)
      """
    return try Sandbox.check(Sandbox.minimal(text)).warnings.map(\.description)
  }

  private func route(_ path: String, _ access: String, host: String? = nil) -> String {
    "[[route]]\npath = \"\(path)\"\n" + (host.map { "host = \"\($0)\"\n" } ?? "") + access + "\n"
  }

  private static let (staff, open) = ("allow_emails = [\"ada@example.com\"]", "access = \"public\"")

  @Test("A route for every host that a wider route of a host precedes and opens there is warned about, with the host")
  func lifted() throws {
    let restricted = route("/admin/", Self.staff, host: "*")
    let found = try warnings(restricted + route("/", Self.open, host: "wiki.example.com"))
    #expect(
      found == [
        "gateway.conf:24:3: warning: on wiki.example.com more users are admitted here than the route says: \"/\" (line "
          + "31) of that host precedes the routes for every host; write a route of that host for this path as well, "
          + "with the access that is meant there"
      ])
    let both = try warnings(
      restricted + route("/", Self.open, host: "wiki.example.com")
        + route("/", "access = \"signed-in\"", host: "tickets.example.com"))
    #expect(both.count == 1 && both[0].contains("on wiki.example.com (and 1 more hosts) more users"), "\(both)")
  }

  @Test("A route for every host is not warned about where a host says the same, more strictly, or for its very path")
  func notLifted() throws {
    let restricted = route("/admin/", Self.staff, host: "*")
    for (path, access) in [("/", Self.staff), ("/", "access = \"deny\""), ("/admin/", Self.open), ("/x/", Self.open)] {
      let found = try warnings(restricted + route(path, access, host: "wiki.example.com"))
      #expect(found.isEmpty, "\(path) \(access): \(found)")
    }
    // A denial for every host cannot be lifted, and a wider route for every host does not precede.
    let denied = try warnings(
      route("/admin/", "access = \"deny\"", host: "*") + route("/", Self.open, host: "wiki.example.com"))
    #expect(denied.isEmpty, "\(denied)")
    let common = try warnings(restricted + route("/", Self.open, host: "*"))
    #expect(common.isEmpty, "\(common)")
  }

  @Test("A host that leads to the application of public_url is warned about if a restricted route does not hold there")
  func forgotten() throws {
    let found = try warnings(route("/admin/", Self.staff), upstream: "default")
    #expect(found.count == 2, "\(found)")
    #expect(
      found.first
        == "gateway.conf:17:1: warning: this host leads to an application of public_url, whose route \"/admin/\" (line "
        + "26) does not hold here: more users are admitted; write host = \"*\" in routes for every host, or state "
        + "access in a route of this host")
    // By a route's upstream, too.
    let named = try warnings(route("/admin/", Self.staff + "\nupstream = \"wiki\""))
    #expect(named.count == 2, "\(named)")
    let routed = try warnings(
      route("/admin/", Self.staff) + route("/", "upstream = \"default\"", host: "wiki.example.com"))
    #expect(routed.count == 1 && routed[0].hasPrefix("gateway.conf:17:1: "), "\(routed)")
    // A route for every host says less of it.
    let laxer = try warnings(route("/admin/", Self.staff) + route("/", Self.open, host: "*"), upstream: "default")
    #expect(laxer.count == 2 && laxer.allSatisfy { $0.contains("whose route \"/admin/\"") }, "\(laxer)")
    // One host has a route that states access.
    let other = try warnings(
      route("/admin/", Self.staff) + route("/x/", "access = \"signed-in\"", host: "wiki.example.com"),
      upstream: "default")
    #expect(other.count == 1 && other[0].hasPrefix("gateway.conf:20:1: "), "\(other)")
  }

  @Test(
    "A host is warned about as well if another upstream with the same address leads it to that application",
    arguments: [
      "url = \"http://127.0.0.1:3000\"", "url = \"http://localhost:3000\"",
      "urls = [\"http://127.0.0.1:3009\", \"http://127.0.0.1:3000\"]",
      "url = \"http://127.0.0.1:3000\"\nstrip_prefix = \"/app\"",
    ])
  func forgottenByAddress(upstream: String) throws {
    let text = """
      [[upstreams]]
      name = "again"
      \(upstream)
      [[host]]
      name = "tools.example.com"
      upstream = "again"
      \(route("/admin/", Self.staff))
      """
    func found(_ more: String = "") throws -> [String] {
      try Sandbox.check(Sandbox.minimal(text + more)).warnings.map(\.description)
    }
    let warned = try found()
    #expect(warned.count == 1 && warned[0].contains("whose route \"/admin/\""), "\(warned)")
    // A server may have other pages for another Host.
    let named = text.replacing("name = \"again\"", with: "name = \"again\"\nhost = \"tools.internal\"")
    #expect(try Sandbox.check(Sandbox.minimal(named)).warnings.map(\.description) == [])
    #expect(try found(route("/app/admin/", Self.staff, host: "tools.example.com")) == [])
  }

  @Test("A host is warned about with the first of the routes whose pages it has, by its own routes or those for all")
  func firstOfSeveral() throws {
    let restricted = ["/one/", "/two/", "/three/"].map { route($0, Self.staff) }.joined()
    let served =
      route("/one/", "upstream = \"wiki\"", host: "wiki.example.com")
      + route("/three/", "upstream = \"default\"", host: "wiki.example.com")
    func found(_ more: String = "") throws -> [String] {
      try warnings(restricted + served + more).filter { $0.contains("this host leads to") }
    }
    let own = try found()
    #expect(own.count == 1 && own[0].contains("whose route \"/three/\""), "\(own)")
    let common = try found(route("/two/", "upstream = \"default\"", host: "*"))
    #expect(common.count == 2 && common.allSatisfy { $0.contains("whose route \"/two/\"") }, "\(common)")
    let prefixed = try found(
      "[[upstreams]]\nname = \"app\"\nurl = \"http://127.0.0.1:3000\"\nstrip_prefix = \"/app\"\n"
        + route("/app/one/", "upstream = \"app\"", host: "*"))
    #expect(prefixed.count == 2 && prefixed.allSatisfy { $0.contains("whose route \"/one/\"") }, "\(prefixed)")
  }

  @Test("The time of a check does not grow with the number of hosts times that of upstreams with one address")
  func manyUpstreams() throws {
    func processorTime(upstreams: Int) throws -> Double {
      var text: [String] = (0..<upstreams).map { "[[upstreams]]\nname = \"u\($0)\"\nurl = \"http://127.0.0.1:3000\"\n" }
      text.append("[[upstreams]]\nname = \"other\"\nurl = \"http://127.0.0.1:4000\"\n")
      text += (0..<300).map { "[[host]]\nname = \"h\($0).example.com\"\nupstream = \"other\"\n" }
      text += (0..<100).map { route("/r\($0)/", Self.staff) }
      var times = (timespec(), timespec())
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &times.0)
      #expect(try Sandbox.check(Sandbox.minimal(text.joined())).warnings.isEmpty)
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &times.1)
      return Double(times.1.tv_sec - times.0.tv_sec) + Double(times.1.tv_nsec - times.0.tv_nsec) / 1e9
    }
    let few = try processorTime(upstreams: 1)
    let many = try processorTime(upstreams: 100)
    #expect(many < 5 * few, "\(few) s with one, \(many) s with many")
  }

  @Test("A host is not warned about if it leads to another application, or nobody else is admitted there")
  func notForgotten() throws {
    let another = try warnings(route("/admin/", Self.staff))
    #expect(another.isEmpty, "\(another)")
    for (path, access, host) in [
      ("/admin/", Self.staff, "*"), ("/public/", Self.open, nil), ("/account/", "access = \"signed-in\"", nil),
      ("/logout", "access = \"sign-out\"", nil), ("/reports/", "max_age = \"1h\"", nil),
    ] as [(String, String, String?)] {
      let found = try warnings(route(path, access, host: host), upstream: "default")
      #expect(found.isEmpty, "\(path): \(found)")
    }
    let common = try warnings(
      route("/admin/users/", Self.staff) + route("/admin/", Self.staff, host: "*"), upstream: "default")
    #expect(common.isEmpty, "\(common)")
    let routed = try warnings(
      route("/admin/", Self.staff) + route("/", "upstream = \"wiki\"", host: "wiki.example.com")
        + route("/admin/", "upstream = \"wiki\"", host: "tickets.example.com"), upstream: "default")
    #expect(routed.isEmpty, "\(routed)")
    let everywhere = try warnings(Self.staff + "\n" + route("/admin/", Self.staff), upstream: "default")
    #expect(everywhere.isEmpty, "\(everywhere)")
  }
}
