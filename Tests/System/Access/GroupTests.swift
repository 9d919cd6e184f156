import Foundation
import TemporaryDirectoryTesting
import Testing

// Groups, from the configuration, a file and the store.
//
// - A member passes with the claim `groups` in header, assertion and `GET session`; anybody else gets 403.
// - What the admin listener changes holds on another gateway of the same store within two seconds, for requests and
//   for an open WebSocket.
// - A changed members_file holds within five seconds, without a reload; a broken one keeps the old list and says so;
//   one that is broken at the start, where there is no old list, ends it with 78 and the remedy.
// - Method-override headers are removed below a route with methods.

@SystemActor
@Suite("Groups", .serialized)
struct GroupTests {
  private static let staffOnly = """
    [[group]]
    name = "staff"
    members = ["anna.bergstrom@example.com"]
    [[group]]
    name = "all"
    members = ["@example.com"]
    [[route]]
    path = "/"
    allow_groups = ["staff"]
    """

  private static func site(_ ending: String = staffOnly) throws -> Site {
    try Site(upstream: EchoingApplication.answer) {
      $0["admin", "token_file"] = "\"admin.token\""
      $0["identity.headers", "X-Groups"] = "\"groups\""
      $0["log", "format"] = "\"json\""
      $0.ending = ending
    }
  }

  private func status(_ visitor: Visitor, _ site: Site) throws -> Int {
    try visitor.fetch(site.origin + "/x").status
  }

  @Test("A member passes with the claim groups, anybody else is refused")
  func claim() throws {
    let site = try Self.site()
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    #expect(try anna.fetch(site.origin + "/x").text.contains("X-Groups: all,staff"))
    #expect(try status(ben, site) == 403)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(anna.fetch(site.own("session")).body)) as? [String: Any])
    #expect(json["groups"] as? [String] == ["all", "staff"])
    try site.gateway.order("PUT", site.member("ben", of: "staff"))
    // Ben's first sign-in left no refresh token.
    #expect(try status(ben, site) == 401)
    let admitted = try site.signedIn(as: "ben")
    #expect(try admitted.fetch(site.origin + "/x").text.contains("X-Groups: staff"))
  }

  @Test("A change in the store holds on another gateway within two seconds, for an open WebSocket as well")
  func replica() throws {
    let site = try Self.site()
    defer { site.stop() }
    let other = try GatewayProcess(
      site.gateway.configuration.replica(store: "\(site.gateway.directory.path)/cordon.db"))
    defer { other.stop() }
    let member = try site.member("ben", of: "staff")
    try site.gateway.order("PUT", member)
    let ben = try site.signedIn(as: "ben")
    try site.gateway.order("DELETE", member)
    var (requests, sockets): ([Double], [Double]) = ([], [])
    for _ in 0..<3 {
      ben.detours[site.gateway.configuration.port] = other.configuration.port
      try poll("the other gateway to refuse") { try status(ben, site) == 403 ? () : nil }
      try site.gateway.order("PUT", member)
      var began = Date()
      try poll("the other gateway to admit") { try status(ben, site) == 200 ? () : nil }
      requests.append(Date().timeIntervalSince(began))
      let socket = try other.webSocket(of: ben, site)
      // A whole frame, so that a Close frame may follow.
      let frame: [UInt8] = [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]
      try socket.send(frame)
      #expect(try socket.read(count: frame.count) == frame)
      try site.gateway.order("DELETE", member)
      began = Date()
      // The Close frame with code 1008; then the client has two seconds to answer.
      #expect(try socket.read(count: 4) == [0x88, 0x02, 0x03, 0xF0])
      sockets.append(Date().timeIntervalSince(began))
      try poll("the other gateway to refuse") { try status(ben, site) == 403 ? () : nil }
    }
    // Two seconds; a machine that is busy may hold one of the rounds up, not all of them.
    #expect(try #require(requests.min()) < 2, "\(requests)")
    #expect(try #require(sockets.min()) < 2, "\(sockets)")
  }

  @Test("A changed members_file holds within five seconds; a broken one keeps the members and says so")
  func membersFile() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("# nobody but Anna\nanna.bergstrom@example.com\n", to: "staff.txt")
    let site = try Self.site(
      """
      [[group]]
      name = "staff"
      members_file = "\(file)"
      [[route]]
      path = "/"
      allow_groups = ["staff"]
      """)
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    #expect(try status(anna, site) == 200 && status(ben, site) == 403)
    let socket = try site.gateway.webSocket(of: anna, site)
    try folder.write("\(site.apple.subject(of: "ben"))\n", to: "staff.txt")
    let began = Date()
    #expect(try socket.read(count: 4) == [0x88, 0x02, 0x03, 0xF0])
    // Five seconds, and what a busy machine adds.
    #expect(Date().timeIntervalSince(began) < 20)
    // Ben's first sign-in left no refresh token.
    try poll("the new list") { try status(ben, site) == 401 ? () : nil }
    let admitted = try site.signedIn(as: "ben")
    #expect(try status(admitted, site) == 200 && status(anna, site) == 403)
    try folder.write("\(site.apple.subject(of: "ben"))\n*@example.com\n", to: "staff.txt")
    try site.gateway.waitForLog("reading a members file failed, keeping the previous members")
    #expect(try status(admitted, site) == 200 && status(anna, site) == 403)
    #expect(try site.gateway.admin.get("/healthz").text.contains("staff.txt:2:"))
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains("cordon_config_last_reload_successful 0"))
    // A reload keeps the members, too, says so, and applies the rest.
    var configuration = site.gateway.configuration
    configuration["pages", "application_name"] = "\"Another name\""
    _ = try configuration.install(in: site.gateway.directory)
    let reloaded = try ServerProcess.run(
      Machine.binary("cordon"), ["reload", "--config", site.gateway.file], directory: site.gateway.directory.path)
    #expect(reloaded.exit == .code(0) && reloaded.standardOutput.contains("Reloaded."), "\(reloaded)")
    #expect(reloaded.standardError.contains("Kept the previous members:"), "\(reloaded)")
    #expect(reloaded.standardError.contains("staff.txt:2:"), "\(reloaded)")
    #expect(try status(admitted, site) == 200 && status(anna, site) == 403)
    #expect(try site.gateway.client.get("/.auth/sign-in").text.contains("Another name"))
    #expect(try site.gateway.admin.get("/metrics").text.contains("cordon_config_last_reload_successful 0"))
    try folder.write("anna.bergstrom@example.com\n", to: "staff.txt")
    try poll("the list that is in order again") { try status(anna, site) == 200 ? () : nil }
    try site.gateway.waitForLog("a members file can be used again")
    // Members that are read again do not make a broken configuration good.
    #expect(try site.gateway.admin.get("/metrics").text.contains("cordon_config_last_reload_successful 1"))
    try site.gateway.directory.write(configuration.text + "nonsense = [1\n", to: "gateway.conf")
    site.gateway.process.signal(SIGHUP)
    try site.gateway.waitForLog("configuration reload failed")
    try folder.write("# again\nanna.bergstrom@example.com\n\(site.apple.subject(of: "eve"))\n", to: "staff.txt")
    try site.gateway.waitForLog("group members reloaded", count: 3)
    #expect(try site.gateway.admin.get("/metrics").text.contains("cordon_config_last_reload_successful 0"))
    _ = try configuration.install(in: site.gateway.directory)
    // A reload of the configuration keeps what the file says.
    site.gateway.process.signal(SIGHUP)
    try site.gateway.waitForLog("configuration reloaded", count: 2)
    #expect(try status(anna, site) == 200 && status(admitted, site) == 403)
    // A reload that is the first to read a repaired file says so, too.
    try folder.write("*@example.com\n", to: "staff.txt")
    try site.gateway.waitForLog("reading a members file failed", count: 3)
    try folder.write("anna.bergstrom@example.com\n", to: "staff.txt")
    site.gateway.process.signal(SIGHUP)
    try site.gateway.waitForLog("a members file can be used again", count: 2)
  }

  @Test(
    "A members_file that is broken at the start ends it with 78 and the remedy, which check names as well",
    arguments: [
      ("\n# nobody\n", "staff.txt:1: the file has no members; write a subject, an e-mail address or"),
      ("ada@example.com\n*@example.com\n", "staff.txt:2: the line has a \"*\", but members are not patterns; write"),
      (nil, "there is no file"),
    ] as [(String?, String)])
  func brokenAtStart(text: String?, remedy: String) throws {
    let folder = try TemporaryDirectory()
    if let text { try folder.write(text, to: "staff.txt") }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:9", apple: nil)
    configuration.ending = "[[group]]\nname = \"staff\"\nmembers_file = \"staff.txt\"\n"
    let file = try configuration.install(in: folder)
    for command in ["run", "check"] {
      let result = try ServerProcess.run(
        Machine.binary("cordon"), [command, "--config", file], directory: folder.path)
      #expect(result.exit == .code(78), "\(command)")
      #expect((result.standardOutput + result.standardError).contains(remedy), "\(command): \(result)")
    }
    #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.path).contains("cordon.db"))
  }

  @Test("Method-override headers do not reach the application below a route with methods")
  func methodOverride() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/"
      access = "public"
      [[route]]
      path = "/reports/"
      methods = ["GET"]
      access = "signed-in"
      """)
    defer { site.stop() }
    let overrides = ["X-HTTP-Method-Override", "X-Http-Method", "X_METHOD_OVERRIDE"].map { ($0, "GET") }
    let client = site.gateway.client
    let below = try client.send("POST", "/reports/x", fields: overrides + [("X-Method", "kept")], body: [])
    #expect(below.status == 200 && !below.text.lowercased().contains("override"))
    #expect(!below.text.lowercased().contains("x-http-method") && below.text.contains("kept"))
    let elsewhere = try client.send("POST", "/x", fields: overrides, body: [])
    #expect(elsewhere.text.contains("X-HTTP-Method-Override"))
  }
}
