import Foundation
import TemporaryDirectoryTesting
import Testing

// The access of users, as `cordon check` explains it.
//
// - `--explain` tells who passes, by which line, for each group of methods.
// - A route that inherits access for everybody is a warning; mistakes in groups and lists are told with their line.

@SystemActor
@Suite("Access, explained by check")
struct ExplainTests {
  private func check(
    _ ending: String, _ arguments: [String] = []
  ) throws -> (exit: ServerProcess.Exit, text: String, file: String) {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:3000")
    configuration.ending = ending
    let file = try configuration.install(in: directory)
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file] + arguments, directory: directory.path)
    return (result.exit, result.standardOutput + result.standardError, configuration.text)
  }

  private static let routes = """
    [access]
    allow_email_domains = ["example.org"]
    require_claims = ["org_id=4"]
    [[upstreams]]
    name = "reports"
    url = "http://10.0.0.3:3000"
    [[route]]
    path = "/api/"
    unauthenticated = "401"
    upstream = "reports"
    [[route]]
    path = "/public/"
    access = "public"
    [[route]]
    path = "/public/reports/"
    upstream = "reports"

    """

  @Test("check --explain tells for each route who passes, by which line, and where it goes")
  func explain() throws {
    let result = try check(Self.routes, ["--explain"])
    #expect(result.exit == .code(0), "\(result.text)")
    let lines = result.file.components(separatedBy: "\n")
    func line(_ text: String) throws -> Int { try #require(lines.firstIndex { $0.hasPrefix(text) }) + 1 }
    let blocks = result.text.components(separatedBy: "\n\n")
    let api = try #require(blocks.first { $0.hasPrefix("/api/") })
    #expect(api.contains("everybody @example.org  ([access], line \(try line("allow_email_domains")))"), "\(api)")
    #expect(api.contains("org_id is 4  ([access], line \(try line("require_claims")))"), "\(api)")
    #expect(api.contains("401  (line \(try line("unauthenticated")))"), "\(api)")
    #expect(api.contains("reports, http://10.0.0.3:3000  (line \(try line("upstream = ")))"), "\(api)")
    let inherited = try #require(blocks.first { $0.hasPrefix("/public/reports/") })
    #expect(inherited.contains("everybody, signed in or not  (from /public/, line \(try line("access = ")))"))
    #expect(blocks.contains { $0.hasPrefix("everything else\n") && $0.contains("everybody @example.org") })
  }

  @Test("check --explain prints a part for each group of methods whose settings differ, within the block of the route")
  func explainMethods() throws {
    let routes = """
      [[route]]
      path = "/x/"
      methods = ["GET"]
      access = "public"
      [[route]]
      path = "/x/y/"

      """
    let result = try check(routes, ["--explain"])
    #expect(result.exit == .code(0), "\(result.text)")
    let block = try #require(result.text.components(separatedBy: "\n\n").first { $0.hasPrefix("/x/y/") })
    let lines = block.components(separatedBy: "\n")
    let expected = [
      "/x/y/  (line ", "  GET, HEAD", "    passes      everybody, signed in or not  (from /x/, line ",
      "    goes to     http://127.0.0.1:3000", "  other methods", "    passes      everybody who is signed in",
      "    signed out  browsers are sent to sign in, others get 401", "    goes to     http://127.0.0.1:3000",
    ]
    #expect(lines.count == expected.count && zip(lines, expected).allSatisfy { $0.hasPrefix($1) }, "\(block)")
    #expect(result.text.contains("everybody is admitted here with GET or HEAD"), "\(result.text)")
  }

  @Test("check --explain has what it tells of the routes in one column")
  func explainColumn() throws {
    let routes = """
      [access]
      deny_emails = ["eve@example.com"]
      [[route]]
      path = "/x/"
      methods = ["GET"]
      access = "public"
      [[route]]
      path = "/x/y/"

      """
    let result = try check(routes, ["--explain"])
    #expect(result.exit == .code(0), "\(result.text)")
    let columns = result.text.components(separatedBy: "\n").compactMap { line in
      line.firstMatch(of: /^ +\S+(?: \S+)*? {2,}/).map { $0.output.count }
    }
    #expect(result.text.contains("no identity  eve@example.com"), "\(result.text)")
    #expect(columns.count > 10 && Set(columns).count == 1, "\(result.text)")
  }

  private static let groups = """
    [access]
    allow_groups = ["staff"]
    deny_emails = ["eve@example.com"]
    networks = ["10.0.0.0/8"]
    max_age = "12h"
    [[group]]
    name = "staff"
    members = ["ada@example.com"]
    members_file = "staff.txt"
    [[group]]
    name = "machines"
    [[route]]
    path = "/reports/"
    methods = ["GET"]
    allow_groups = ["staff", "machines"]
    deny_groups = ["machines"]
    networks = ["10.1.0.0/16", "10.2.0.0/16"]
    tokens = true

    """

  @Test("check counts groups and members, and explains groups, deny lists, networks, ages, methods and tokens")
  func explainGroups() throws {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:3000")
    configuration.ending = Self.groups
    let file = try configuration.install(in: directory)
    try directory.write("# The office\nben@example.com\n001.c # Cleo\n", to: "staff.txt")
    func run(_ arguments: [String]) throws -> String {
      let result = try ServerProcess.run(
        Machine.binary("cordon"), ["check", "--config", file] + arguments, directory: directory.path)
      #expect(result.exit == .code(0), "\(result.standardOutput)")
      return result.standardOutput
    }
    let summary = try run([])
    #expect(summary.contains("staff (3 members), machines (members at run time)"), "\(summary)")
    #expect(summary.contains("warning: networks is evaluated with the address of the connection"), "\(summary)")
    let lines = configuration.text.components(separatedBy: "\n")
    func line(_ text: String) throws -> Int { try #require(lines.lastIndex { $0.hasPrefix(text) }) + 1 }
    let explanation = try run(["--explain"])
    let blocks = explanation.components(separatedBy: "\n\n")
    let reports = try #require(blocks.first { $0.hasPrefix("/reports/") })
    for expected in [
      "GET, HEAD; a field _method in a form is not seen  (line \(try line("methods")))",
      "group staff, group machines  (line \(try line("allow_groups")))",
      "group machines  (line \(try line("deny_groups")))", "eve@example.com  ([access], line ",
      "10.1.0.0/16 or 10.2.0.0/16  (line \(try line("networks")))", "10.0.0.0/8  ([access], line ",
      "not older than 12h  ([access], line \(try line("max_age")))",
      "machine tokens of group staff or group machines  (line \(try line("tokens")))",
    ] { #expect(reports.contains(expected), "\(expected)\n\(reports)") }
    let rest = try #require(blocks.first { $0.hasPrefix("everything else") })
    #expect(rest.contains("group staff  ([access], line ") && !rest.contains("tokens"), "\(rest)")
  }

  @Test(
    "A mistake in a group or in a file of members is told with its line",
    arguments: [
      ("allow_groups = [\"stafff\"]", "ada@example.com\n", "did you mean \"staff\"?"),
      ("", "ada@example.com\nAda Lovelace\n", "staff.txt:2: the line is neither a subject"),
      ("", "# nobody\n", "staff.txt:1: the file has no members"),
      ("managers = [\"bosses\"]", "ada@example.com\n", "there is no group \"bosses\""),
    ])
  func groupMistakes(access: String, members: String, message: String) throws {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:3000")
    configuration.ending = "[access]\n\(access)\n[[group]]\nname = \"staff\"\nmembers_file = \"staff.txt\"\n"
    let file = try configuration.install(in: directory)
    try directory.write(members, to: "staff.txt")
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    #expect(result.exit == .code(78), "\(result.standardOutput)")
    #expect(result.standardOutput.contains(message), "\(result.standardOutput)")
  }

  @Test("check warns of a route that gets public from above without saying so, and is content")
  func warning() throws {
    let result = try check(Self.routes)
    #expect(result.exit == .code(0), "\(result.text)")
    let lines = result.file.components(separatedBy: "\n")
    let line = try #require(lines.firstIndex { $0 == "path = \"/public/reports/\"" })
    #expect(result.text.contains(":\(line):3: warning: everybody is admitted here"), "\(result.text)")
    #expect(result.text.components(separatedBy: "warning:").count == 2, "one, not more")
  }

  @Test(
    "Impossible combinations are told with their place",
    arguments: [
      (
        "[access]\nprivate_email = \"deny\"\n[[route]]\npath = \"/x/\"\nprivate_email = \"require\"",
        "nobody could pass"
      ),
      (
        "[[route]]\npath = \"/\"\naccess = \"public\"\n[[route]]\npath = \"/x/\"\nrequire_claims = [\"org_id=4\"]",
        "nobody would be asked"
      ),
      ("[[route]]\npath = \"/x/\"\nallow_subjects = [\"1\"]\nallow_emails = []", "allow_emails is empty"),
      ("[access]\nallow_emails = [\"a@x.example,b@y.example\"]", "is not an address"),
      ("[access]\naccess = \"public\"", "access.access"),
    ])
  func mistakes(ending: String, reason: String) throws {
    let result = try check(ending + "\n")
    #expect(result.exit == .code(78) && result.text.contains(reason), "\(result.text)")
  }
}
