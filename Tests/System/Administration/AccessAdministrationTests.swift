import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// Who may come in, decided while the gateway runs: over the admin listener and by the commands.
//
// - A ban ends every session before it is answered, and on other gateways of the same store within two seconds.
// - Accounts are listed in pages, by group and by last use; groups, requests, invitations and tokens are kept.
// - What cannot be is refused with the remedy, and changes nothing. Every act is audited; no code or token is in a log.

@SystemActor
@Suite("Administration of access")
struct AccessAdministrationTests {
  private static let right = [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")]
  private nonisolated static let groups = """

    [[group]]
    name = "staff"
    members = ["ben@example.org", "002.configured"]

    [[group]]
    name = "machines"
    members = []
    """

  private static func makeSite() throws -> Site {
    try Site(adjust: configure)
  }

  private nonisolated static func configure(_ configuration: inout GatewayConfiguration) {
    configuration["admin", "token_file"] = "\"admin.token\""
    configuration["log", "format"] = "\"json\""
    configuration["log", "access"] = "true"
    configuration.ending += groups
  }

  private func ask(
    _ gateway: GatewayProcess, _ method: String, _ target: String, _ body: [String: Any]? = nil
  ) throws -> HTTPResponse {
    let bytes = try body.map { Array(try JSONSerialization.data(withJSONObject: $0)) }
    return try gateway.admin.send(
      method, target, fields: Self.right, body: bytes ?? (method == "GET" || method == "HEAD" ? nil : []))
  }

  private func cordon(
    _ site: Site, _ arguments: String...
  ) throws -> (exit: ServerProcess.Exit, out: String, error: String) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path)
    return (result.exit, result.standardOutput, result.standardError)
  }

  private func acts(_ site: Site) -> [[String: Any]] {
    site.gateway.log.split(separator: 10).compactMap {
      try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }.filter { $0["kind"] as? String == "audit" && $0["event"] as? String == "administration" }
  }

  private func subjects(_ response: HTTPResponse) throws -> [String] {
    (try response.json()["accounts"] as? [[String: Any]] ?? []).compactMap { $0["sub"] as? String }
  }

  @Test("A ban ends every session before it is answered, and keeps the user out until it is lifted")
  func ban() throws {
    let site = try Self.makeSite()
    defer { site.stop() }
    let subject = try site.apple.subject(of: "anna")
    let visitors = try (0..<2).map { _ in try site.signedIn() }
    let ben = try site.signedIn(as: "ben")
    let banned = try ask(site.gateway, "PUT", "/accounts/\(subject)/ban", ["until": "2999-12-31", "reason": "noise"])
    #expect(banned.status == 200, "\(banned.text)")
    #expect(try banned.json()["ended"] as? Int == 2)
    let ban = try #require(banned.json()["ban"] as? [String: Any])
    #expect(ban["until"] as? String == "2999-12-31T23:59:59Z" && ban["reason"] as? String == "noise")
    #expect(try visitors.map { try $0.fetch(site.own("session")).status } == [401, 401])
    #expect(try ben.fetch(site.own("session")).status == 200)
    let listed = try ask(site.gateway, "GET", "/accounts?subject=\(subject)")
    #expect((try listed.json()["accounts"] as? [[String: Any]])?.first?["ban"] != nil)
    #expect(try ask(site.gateway, "DELETE", "/accounts/\(subject)/ban").status == 200)
    #expect(try ask(site.gateway, "DELETE", "/accounts/\(subject)/ban").status == 404)
    #expect(try site.signedIn().fetch(site.own("session")).status == 200)
    // A subject may be banned before its first sign-in.
    #expect(try ask(site.gateway, "PUT", "/accounts/009.unknown/ban").status == 200)
    let lines = try poll("every act in the audit") { () -> [[String: Any]]? in
      let lines = acts(site).filter { $0["act"] as? String != "find_account" }
      return lines.count == 4 ? lines : nil
    }
    #expect(lines.map { $0["act"] as? String } == ["ban", "unban", "unban", "ban"])
    #expect(lines.map { $0["failed"] as? String } == [nil, nil, "not_banned", nil])
    #expect(lines.allSatisfy { $0["by"] as? String == "token" && $0["user"] != nil && $0["peer"] != nil })
  }

  @Test(
    "A ban on one gateway ends the sessions on another of the same database within two seconds",
    arguments: [true, false])
  func otherReplica(isSQLite: Bool) throws {
    var stops: [() -> Void] = []
    defer { for stop in stops.reversed() { stop() } }
    let (site, second): (Site, GatewayProcess)
    if isSQLite {
      site = try Self.makeSite()
      stops.append { site.stop() }
      second = try GatewayProcess(
        try site.gateway.configuration.replica(store: "\(site.gateway.directory.path)/cordon.db"))
      stops.append { second.stop() }
    } else {
      let cluster = try Cluster(2, adjust: Self.configure)
      stops.append { cluster.stop() }
      (site, second) = (cluster.site, cluster.gateways[1])
    }
    let subject = try site.apple.subject(of: "anna")
    var times: [Duration] = []
    for _ in 0..<3 {
      let anna = try site.signedIn()
      anna.detours[site.gateway.configuration.port] = second.configuration.port
      #expect(try anna.fetch(site.own("session")).status == 200)
      #expect(try ask(site.gateway, "PUT", "/accounts/\(subject)/ban").status == 200)
      let began = ContinuousClock.now
      try poll("the end on the other gateway") { try anna.fetch(site.own("session")).status == 401 ? () : nil }
      times.append(ContinuousClock.now - began)
      #expect(try ask(site.gateway, "DELETE", "/accounts/\(subject)/ban").status == 200)
    }
    // A machine that is busy may hold one of the rounds up, not all of them.
    #expect(try #require(times.min()) < .seconds(2), "\(times)")
  }

  @Test("Accounts are listed in pages, by group with its members by configuration, and by last use")
  func lists() throws {
    let site = try Self.makeSite()
    defer { site.stop() }
    let people = ["anna", "ben", "dana", "eve"]
    for name in people { _ = try site.signedIn(as: name) }
    let all = try people.map { try site.apple.subject(of: $0) }.sorted()
    var found: [String] = []
    var next: String? = ""
    while let place = next {
      let page = try ask(site.gateway, "GET", "/accounts?limit=3\(place.isEmpty ? "" : "&after=\(place)")")
      #expect(page.status == 200, "\(page.text)")
      found += try subjects(page)
      next = try page.json()["next"] as? String
    }
    #expect(found == all)
    let anna = try site.apple.subject(of: "anna")
    #expect(try ask(site.gateway, "PUT", "/groups/staff/members/\(anna)").status == 200)
    let staff = try subjects(ask(site.gateway, "GET", "/accounts?group=staff"))
    #expect(try Set(staff) == [anna, site.apple.subject(of: "ben")], "ben by the configuration")
    #expect(try subjects(ask(site.gateway, "GET", "/accounts?seen_since=1h")) == all)
    #expect(try subjects(ask(site.gateway, "GET", "/accounts?seen_since=2999-01-01")) == [])
    #expect(try ask(site.gateway, "HEAD", "/accounts").status == 200)
    let table = try cordon(site, "accounts", "list", "--group", "staff")
    #expect(table.exit == .code(0), "\(table.error)")
    let lines = table.out.split(separator: "\n")
    #expect(lines.count == 3 && lines.first?.hasPrefix("SUBJECT") == true, "\(table.out)")
    let json = try cordon(site, "accounts", "list", "--json")
    #expect((try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [Any])?.count == 4)
    let misspelt = try cordon(site, "accounts", "list", "--group", "stuff")
    #expect(misspelt.exit == .code(1) && misspelt.error.contains("did you mean staff?"), "\(misspelt.error)")
  }

  @Test("Members are added by subject and address and removed again, but not those of the configuration")
  func members() throws {
    let site = try Self.makeSite()
    defer { site.stop() }
    _ = try site.signedIn()
    _ = try site.signedIn(as: "ben")
    let anna = try site.apple.subject(of: "anna")
    let added = try cordon(site, "groups", "add", "staff", "Anna.Bergstrom@example.com")
    #expect(added.exit == .code(0) && added.out == "\(anna) is in staff.\n", "\(added.error)")
    #expect(try cordon(site, "groups", "add", "staff", "003.later").exit == .code(0))
    let listed = try cordon(site, "groups", "list", "--json")
    let groups = try #require(JSONSerialization.jsonObject(with: Data(listed.out.utf8)) as? [[String: Any]])
    #expect(groups.map { $0["name"] as? String } == ["machines", "staff"])
    #expect(groups.map { $0["added"] as? Int } == [0, 2] && groups.map { $0["configured"] as? Int } == [0, 2])
    let configured = try cordon(site, "groups", "remove", "staff", "ben@example.org")
    #expect(configured.exit == .code(1), "\(configured.out)")
    #expect(configured.error.contains("ben@example.org") && configured.error.contains("staff"))
    #expect(configured.error.contains(/line [0-9]+ of the configuration file/), "\(configured.error)")
    #expect(try ask(site.gateway, "DELETE", "/groups/staff/members/002.configured").status == 409)
    #expect(try cordon(site, "groups", "remove", "staff", anna).exit == .code(0))
    #expect(try ask(site.gateway, "DELETE", "/groups/staff/members/\(anna)").status == 404)
    let nobody = try cordon(site, "groups", "add", "staff", "nobody@example.com")
    #expect(nobody.exit == .code(1) && nobody.error.contains("no account has the address"))
    let unseen = try cordon(site, "groups", "remove", "staff", "nobody@example.com")
    #expect(unseen.exit == .code(1) && unseen.error.contains("members_file of [[group]] staff"), "\(unseen.error)")
  }

  @Test("An address that two accounts have names neither, and both are listed")
  func twoAccounts() throws {
    let site = try Self.makeSite()
    defer { site.stop() }
    for id in ["heir", "other"] {
      try site.apple.add(user: [
        "id": id, "first_name": "H", "last_name": "B", "email": "shared@example.com", "email_verified": true,
      ])
      _ = try site.signedIn(as: id)
    }
    let ban = try cordon(site, "accounts", "ban", "shared@example.com")
    #expect(ban.exit == .code(1))
    for id in ["heir", "other"] { #expect(ban.error.contains(try site.apple.subject(of: id)), "\(ban.error)") }
    #expect(try cordon(site, "accounts", "list", "--json").out.contains("\"ban\"") == false)
  }

  @Test("An invitation's link and a token are printed once, and neither is in a list or a log")
  func secrets() throws {
    let site = try Self.makeSite()
    defer { site.stop() }
    let made = try cordon(site, "invitations", "create", "--group", "staff", "--uses", "3", "--note", "for the team")
    #expect(made.exit == .code(0), "\(made.error)")
    let link = made.out.trimmingCharacters(in: .newlines)
    let code = try #require(link.wholeMatch(of: /(.*)\/\.auth\/invite\/([A-Za-z0-9_-]{22})/))
    #expect(String(code.1) == site.origin)
    let invitations = try ask(site.gateway, "GET", "/invitations")
    let invitation = try #require((invitations.json()["invitations"] as? [[String: Any]])?.first)
    #expect(invitation["uses"] as? Int == 3 && invitation["used"] as? Int == 0 && invitation["open"] as? Bool == true)
    #expect(!invitations.text.contains(code.2))
    let id = try #require(invitation["id"] as? String)
    #expect(try cordon(site, "invitations", "revoke", id).exit == .code(0))
    #expect(try ask(site.gateway, "DELETE", "/invitations/\(id)").status == 404)

    let token = try cordon(site, "tokens", "create", "--name", "backup", "--group", "machines", "--expires", "90d")
    #expect(token.exit == .code(0), "\(token.error)")
    let text = token.out.trimmingCharacters(in: .newlines)
    #expect(text.wholeMatch(of: /cdn_[A-Za-z0-9_-]{43}/) != nil, "\(text)")
    let taken = try ask(site.gateway, "POST", "/tokens", ["name": "backup", "group": "machines"])
    #expect(taken.status == 409, "\(taken.text)")
    let tokens = try cordon(site, "tokens", "list")
    #expect(tokens.out.contains("backup") && !tokens.out.contains(text))
    #expect(try cordon(site, "tokens", "revoke", "backup").exit == .code(0))
    #expect(try ask(site.gateway, "DELETE", "/tokens/backup").status == 404)
    #expect(try ask(site.gateway, "POST", "/tokens", ["name": "backup", "group": "machines"]).status == 200)
    try poll("the acts in the audit") {
      let names = acts(site).compactMap { $0["act"] as? String }
      return ["invitation_create", "invitation_revoke", "token_create", "token_revoke"].allSatisfy(names.contains)
        ? () : nil
    }
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    #expect(!log.contains(code.2) && !log.contains(text.dropFirst(4)))
    #expect(acts(site).contains { $0["invitation"] as? String == id && $0["group"] as? String == "staff" })
    #expect(acts(site).contains { $0["token"] as? String == "backup" })
  }

  @Test("A mistake is refused with its remedy, and nothing is changed")
  func mistakes() throws {
    let site = try Self.makeSite()
    defer { site.stop() }
    let cases: [(String, String, [String: Any]?, Int, String)] = [
      ("PUT", "/accounts/001.a/ban", ["until": "2020-01-01"], 400, "past_date"),
      ("PUT", "/accounts/001.a/ban", ["until": "soon"], 400, "bad_date"),
      ("PUT", "/accounts/001.a/ban", ["until": 7], 400, "bad_body"),
      ("PUT", "/accounts/001.a/ban", ["untill": "30d"], 400, "bad_body"),
      ("PUT", "/accounts/001.a/ban", ["reason": "two\nlines"], 400, "bad_reason"),
      ("PUT", "/accounts/token:backup/ban", nil, 409, "token_subject"),
      ("PUT", "/accounts/a%40example.com/ban", nil, 400, "address_for_subject"),
      ("PUT", "/groups/nobody/members/001.a", nil, 404, "unknown_group"),
      ("PUT", "/groups/not%20a%20name/members/001.a", nil, 400, "bad_group"),
      ("POST", "/requests/K7QF-3MDP/admit", ["group": "staff"], 404, "no_request"),
      ("POST", "/requests/K7QF-3MDP/admit", [:], 400, "bad_body"),
      ("POST", "/requests/%20/reject", nil, 400, "bad_code"),
      ("POST", "/invitations", ["group": "staff", "uses": 0], 400, "bad_uses"),
      ("POST", "/invitations", ["group": "staff", "uses": 10_001], 400, "bad_uses"),
      ("POST", "/invitations", ["group": "staff", "uses": "3"], 400, "bad_body"),
      ("POST", "/invitations", ["group": "staff", "expires": "400d"], 400, "bad_expiry"),
      ("POST", "/invitations", ["group": "stafff"], 404, "unknown_group"),
      ("POST", "/tokens", ["name": "a b", "group": "machines"], 400, "bad_name"),
      ("POST", "/tokens", ["name": "a", "group": "machines", "expires": "0s"], 400, "past_date"),
      ("GET", "/accounts?limit=0", nil, 400, "bad_query"), ("GET", "/accounts?seen_since=x", nil, 400, "bad_date"),
      ("GET", "/accounts?group=none", nil, 404, "unknown_group"), ("GET", "/requests?after=x", nil, 400, "bad_code"),
      ("POST", "/groups", nil, 405, "method_not_allowed"), ("GET", "/tokens/backup", nil, 405, "method_not_allowed"),
      ("GET", "/groups/staff", nil, 404, "not_found"),
    ]
    for (method, target, body, status, code) in cases {
      let response = try ask(site.gateway, method, target, body)
      #expect(response.status == status, "\(method) \(target) \(body ?? [:]): \(response.text)")
      #expect(try response.json()["error"] as? String == code, "\(method) \(target): \(response.text)")
      if status == 405 { #expect(response.fields["Allow"] != nil, "\(method) \(target)") }
    }
    for (target, expected) in [("/groups", "GET, HEAD"), ("/invitations", "GET, POST, HEAD")] {
      #expect(try ask(site.gateway, "PATCH", target).fields["Allow"] == expected)
    }
    for broken in ["{", "[]", "{\"group\":\"staff\",\"group\":\"staff\"}", "{\"group\":\"staff\"} x"] {
      let response = try site.gateway.admin.send("POST", "/invitations", fields: Self.right, body: Array(broken.utf8))
      #expect(response.status == 400, "\(broken): \(response.text)")
    }
    let large = Array("{\"note\":\"\(String(repeating: "x", count: 9_000))\"}".utf8)
    #expect(try site.gateway.admin.send("POST", "/invitations", fields: Self.right, body: large).status == 413)
    for path in ["/groups", "/requests", "/invitations", "/tokens"] {
      #expect(try site.gateway.admin.get(path).status == 401, "\(path)")
    }
    #expect(try ask(site.gateway, "GET", "/invitations").json()["invitations"] as? [String] == [])
    #expect(try ask(site.gateway, "GET", "/tokens").json()["tokens"] as? [String] == [])
    for (list, text) in [("requests", "Nobody"), ("invitations", "no invitations"), ("tokens", "no tokens")] {
      let empty = try cordon(site, list, "list")
      #expect(empty.exit == .code(0) && empty.out.contains(text), "\(empty.out)\(empty.error)")
    }
  }
}
