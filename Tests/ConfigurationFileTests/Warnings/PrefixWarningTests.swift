import Testing

@testable import ConfigurationFile

// One application behind two upstreams, of which one removes a prefix: it has each page at two paths.
@Suite("Warnings about pages at two paths of one application")
struct PrefixWarningTests {
  /// The warnings about a configuration with an upstream that removes `/reports`. The routes begin in line 18.
  private func warnings(
    _ routes: String, url: String = "http://127.0.0.1:3000", more: String = "remove_headers = [\"X-Debug\"]"
  ) throws -> [String] {
    let text = """
      [[upstreams]]
      name = "reports"
      url = "\(url)"
      strip_prefix = "/reports"
      \(more)
      \(routes)
      """
    return try ConfigurationFile.check(
      Sandbox.minimal(text), name: "gateway.conf", directory: Sandbox.directory, environment: Sandbox.environment,
      files: Sandbox.files
    ).warnings.map(\.description)
  }

  private func route(_ path: String, _ access: String, upstream: String? = nil) -> String {
    "[[route]]\npath = \"\(path)\"\n" + (upstream.map { "upstream = \"\($0)\"\n" } ?? "") + access + "\n"
  }

  private static let (staff, signedIn) = ("allow_emails = [\"ada@example.com\"]", "access = \"signed-in\"")

  @Test("A restricted route is warned about if the same address has its pages at a path that admits more users")
  func wider() throws {
    let found = try warnings(
      route("/admin/", Self.staff) + route("/reports/", Self.signedIn, upstream: "reports"))
    #expect(
      found == [
        "gateway.conf:18:3: warning: at \"/reports/admin/\" more users get the pages of this route "
          + "(\"/reports/\", line 24): the upstreams default and reports have the same address, and strip_prefix makes "
          + "one path of both; write a route for \"/reports/admin/\" with the access that is meant here, or use one "
          + "upstream for all of the application"
      ])
    let spelled = try warnings(
      route("/admin/", Self.staff) + route("/reports/", Self.signedIn, upstream: "reports"),
      url: "http://localhost:3000")
    #expect(spelled == found)
    // The other way round: the path without the prefix admits more, by the default.
    let restricted = try warnings(route("/reports/admin/", Self.staff, upstream: "reports"))
    #expect(restricted.count == 1 && restricted[0].contains("at \"/admin/\" more users get"), "\(restricted)")
    #expect(restricted[0].contains("(by [access])"), "\(restricted)")
    // The route for that path states something else, and inherits its access.
    let inherited = try warnings(
      route("/admin/", Self.staff) + route("/reports/", Self.signedIn, upstream: "reports")
        + route("/reports/admin/", "max_age = \"1h\""))
    #expect(inherited.count == 1 && inherited[0].contains("(\"/reports/\", line 24)"), "\(inherited)")
    let denied = try warnings(
      route("/admin", "access = \"deny\"") + route("/reports", Self.signedIn, upstream: "reports"))
    #expect(denied.count == 1 && denied[0].contains("at \"/reports/admin\" more users get"), "\(denied)")
  }

  @Test("A route is not warned about if its pages admit nobody else there, or those of another application are there")
  func notWider() throws {
    let restricted = route("/admin/", Self.staff)
    for others in [
      route("/reports/", Self.staff, upstream: "reports") + route("/", Self.staff),
      route("/reports/", Self.signedIn, upstream: "reports") + route("/reports/admin/", Self.staff),
      // A route states the access to this very page.
      route("/reports/", Self.signedIn, upstream: "reports") + route("/reports/admin/", "access = \"deny\""),
      route("/reports/", Self.signedIn, upstream: "reports") + route("/reports/admin/", Self.signedIn),
      // All of the application is open, by one of both paths.
      route("/", "access = \"deny\"") + route("/reports", Self.staff, upstream: "reports"),
      // No route leads to it.
      "",
    ] {
      let found = try warnings(restricted + others)
      #expect(found.isEmpty, "\(others): \(found)")
    }
    let wider = restricted + route("/reports/", Self.signedIn, upstream: "reports")
    let elsewhere = try warnings(wider, url: "http://127.0.0.1:3001")
    #expect(elsewhere.isEmpty, "\(elsewhere)")
    let otherHost = try warnings(wider, more: "host = \"reports.internal\"")
    #expect(otherHost.isEmpty, "\(otherHost)")
    let methods = try warnings(
      route("/admin/", Self.staff + "\nmethods = [\"GET\", \"POST\"]")
        + route("/reports/", Self.signedIn, upstream: "reports"))
    #expect(!methods.contains { $0.contains("strip_prefix") }, "\(methods)")
  }
}
