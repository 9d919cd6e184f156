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
    return try ConfigurationFile.check(
      Sandbox.minimal(text), name: "gateway.conf", directory: Sandbox.directory, environment: Sandbox.environment,
      files: Sandbox.files
    ).warnings.map(\.description)
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
}
