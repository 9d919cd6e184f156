import Foundation
import TemporaryDirectoryTesting
import Testing

// Administration of accounts and sessions, over the admin listener and by the commands.
//
// - Never without the token.
// - Accounts are found by subject and address; sessions are listed and ended, one or all: dead at once, streams too.
// - disconnect revokes every token at Apple in the name of its client, then forgets; what Apple does not revoke stays.
// - A mistake in the file, which the gateway has not read, keeps no command from ending access.
// - Every act is audited; nobody's name, address or token is in the log.

@SystemActor
@Suite("Administration")
struct AdministrationTests {
  private static let token = "a-token-of-the-tests-long-enough-to-be-one"
  private static let right = [("Authorization", "Bearer \(token)")]

  private let site: Site
  private let subject: String
  private var admin: HTTPClient { site.gateway.admin }

  init() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(Self.token + "\n", to: "admin.token")
    site = try withExtendedLifetime(folder) {
      try Site(adjust: {
        $0["admin", "token_file"] = "\"\(file)\""
        $0["log", "access"] = "true"
        $0["apple", "native_client_ids"] = "[\"com.example.app\", \"com.example.tv\"]"
        $0["log", "format"] = "\"json\""
      })
    }
    subject = try site.apple.subject(of: "anna")
    // The commands read the file again.
    try site.gateway.directory.write(Self.token + "\n", to: "admin.token")
    var configuration = site.gateway.configuration
    configuration["admin", "token_file"] = "\"admin.token\""
    _ = try configuration.install(in: site.gateway.directory)
  }

  private func ask(_ method: String, _ target: String) throws -> HTTPResponse {
    try admin.send(method, target, fields: Self.right, body: method == "POST" ? [] : nil)
  }

  private func cordon(_ arguments: String...) throws -> (exit: ServerProcess.Exit, out: String, error: String) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path)
    return (result.exit, result.standardOutput, result.standardError)
  }

  private func audit(_ event: String) throws -> [[String: Any]] {
    site.gateway.log.split(separator: 10).compactMap {
      try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }.filter { $0["kind"] as? String == "audit" && $0["event"] as? String == event }
  }

  private func handles(_ response: HTTPResponse) throws -> [String] {
    (try response.json()["sessions"] as? [[String: Any]] ?? []).compactMap { $0["handle"] as? String }
  }

  @Test("Nobody administers without the token, and a wrong one is not a token")
  func token() throws {
    defer { site.stop() }
    let targets = [
      ("GET", "/accounts?subject=\(subject)"), ("GET", "/accounts/\(subject)/sessions"),
      ("DELETE", "/accounts/\(subject)/sessions"), ("POST", "/accounts/\(subject)/disconnect"),
      ("DELETE", "/sessions/AAAAAAAAAAAAAAAAAAAAAA"),
    ]
    let anna = try site.signedIn()
    let wrong: [[(String, String)]] = [
      [], [("Authorization", "Bearer \(Self.token)x")], [("Authorization", "Bearer \(Self.token.dropLast())")],
      [("Authorization", "Bearer ")], [("Authorization", "Basic \(Self.token)")], [("Authorization", Self.token)],
      Self.right + Self.right,
    ]
    for (method, target) in targets {
      // The scheme has no case; the rest of the answer is the act's own.
      for scheme in ["bearer", "BEARER", "bEaReR"] where method == "GET" {
        let response = try admin.send(method, target, fields: [("Authorization", "\(scheme) \(Self.token)")])
        #expect(response.status == 200, "\(scheme) \(target)")
      }
      for fields in wrong {
        let response = try admin.send(method, target, fields: fields, body: method == "POST" ? [] : nil)
        #expect(response.status == 401, "\(method) \(target) \(fields)")
        #expect(response.fields["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
        #expect(!response.text.contains("anna"))
      }
    }
    #expect(try anna.fetch(site.own("session")).status == 200)
    try poll("a refusal in the audit") {
      try audit("administration").contains { $0["act"] as? String == "refused" && $0["by"] as? String == "nobody" }
        ? () : nil
    }
    #expect(site.gateway.log.firstRange(of: Array(Self.token.utf8)) == nil)
  }

  @Test("An account is found by subject and by address in any case, with its sessions")
  func finding() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    _ = try site.signedIn()
    for query in ["subject=\(subject)", "email=Anna.Bergstrom%40EXAMPLE.com"] {
      let response = try ask("GET", "/accounts?\(query)")
      #expect(response.status == 200)
      let accounts = try #require(response.json()["accounts"] as? [[String: Any]])
      #expect(accounts.count == 1)
      #expect(accounts.first?["sub"] as? String == subject)
      #expect(accounts.first?["email"] as? String == "anna.bergstrom@example.com")
      #expect((accounts.first?["latest_authorization"] as? String)?.hasSuffix("Z") == true)
    }
    #expect(try (ask("GET", "/accounts?email=nobody@example.com").json()["accounts"] as? [Any])?.isEmpty == true)
    let own = try #require(anna.fetch(site.own("session")).json()["session_id"] as? String)
    let listed = try handles(ask("GET", "/accounts/\(subject)/sessions"))
    #expect(listed.count == 2 && listed.contains(own))
    #expect(try ask("GET", "/accounts/001.nobody/sessions").status == 404)
    for bad in ["/accounts?subject=", "/accounts?email=a&email=b", "/accounts?subject=a&email=b"] {
      #expect(try ask("GET", bad).status == 400, "\(bad)")
    }
    #expect(try ask("GET", "/accounts/%zz/sessions").status == 400)
    #expect(try ask("PUT", "/accounts/\(subject)/sessions").status == 405)
    #expect(try ask("GET", "/accounts/\(subject)").status == 404)
    #expect(try ask("DELETE", "/sessions/short").status == 400)
    try poll("its lines in the audit") {
      try audit("administration").filter { $0["act"] as? String == "find_account" }.count == 3 ? () : nil
    }
    #expect(try audit("administration").allSatisfy { $0["by"] as? String == "token" })
  }

  @Test("Every act leaves a line in the audit: what it was, by what right, from where, and about whom by a keyed hash")
  func everyAct() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    let handle = try #require(anna.fetch(site.own("session")).json()["session_id"] as? String)
    let acts = [
      ("find_account", "GET", "/accounts?subject=\(subject)"),
      ("list_sessions", "GET", "/accounts/\(subject)/sessions"),
      ("end_session", "DELETE", "/sessions/\(handle)"), ("end_sessions", "DELETE", "/accounts/\(subject)/sessions"),
      ("migrate", "POST", "/accounts/migrate?dry_run=true"), ("reload", "POST", "/reload"),
      ("disconnect", "POST", "/accounts/\(subject)/disconnect"),
    ]
    for (_, method, target) in acts { _ = try ask(method, target) }
    let lines = try poll("a line for each") { () throws -> [[String: Any]]? in
      let lines = try audit("administration")
      return lines.count == acts.count ? lines : nil
    }
    #expect(lines.map { $0["act"] as? String } == acts.map(\.0))
    #expect(lines.allSatisfy { $0["by"] as? String == "token" && $0["peer"] != nil && $0["request"] != nil })
    let users = lines.compactMap { $0["user"] as? String }
    #expect(users.count == 4 && Set(users).count == 1 && users.allSatisfy { $0.utf8.count == 16 })
    #expect(lines.compactMap { $0["session"] as? String } == [handle])
  }

  @Test("A session is ended by its ID, the others stay; then all of them are")
  func ending() throws {
    defer { site.stop() }
    let visitors = try (0..<3).map { _ in try site.signedIn() }
    let ben = try site.signedIn(as: "ben")
    let handle = try #require(visitors[0].fetch(site.own("session")).json()["session_id"] as? String)
    #expect(try ask("DELETE", "/sessions/\(handle)").json()["ended"] as? Int == 1)
    #expect(try visitors.map { try $0.fetch(site.own("session")).status } == [401, 200, 200])
    #expect(try ask("DELETE", "/sessions/\(handle)").status == 404)
    #expect(try ask("DELETE", "/accounts/\(subject)/sessions").json()["ended"] as? Int == 2)
    #expect(try visitors.map { try $0.fetch(site.own("session")).status } == [401, 401, 401])
    #expect(try ben.fetch(site.own("session")).status == 200)
    let ended = try poll("three ends in the audit") { () throws -> [[String: Any]]? in
      let ended = try audit("session_ended")
      return ended.count == 3 ? ended : nil
    }
    #expect(ended.contains { $0["session"] as? String == handle && $0["reason"] as? String == "by_operator" })
    #expect(try admin.get("/metrics").text.contains("cordon_sessions_ended_total{reason=\"by_operator\"} 3"))
  }

  @Test("disconnect revokes at Apple in the client's name, ends the sessions and forgets the user")
  func disconnecting() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    let ben = try site.signedIn(as: "ben")
    let response = try ask("POST", "/accounts/\(subject)/disconnect")
    #expect(response.status == 200, "\(response.text)")
    #expect(try response.json()["forgotten"] as? Bool == true)
    let revocations = try site.apple.requests(at: "/auth/revoke")
    #expect(revocations.map { $0.form["client_id"] } == [GatewayConfiguration.clientID])
    #expect(revocations.first?.status == 200)
    #expect(revocations.first?.form["token_type_hint"] == "refresh_token")
    #expect(try anna.fetch(site.own("session")).status == 401)
    #expect(try ben.fetch(site.own("session")).status == 200)
    #expect(try (ask("GET", "/accounts?subject=\(subject)").json()["accounts"] as? [Any])?.isEmpty == true)
    #expect(try ask("POST", "/accounts/\(subject)/disconnect").status == 404)
    try poll("both in the audit") {
      let (revoked, ended) = (try audit("revocation"), try audit("session_ended"))
      return revoked.map { $0["outcome"] as? String } == ["revoked"]
        && ended.map { $0["reason"] as? String } == ["account_removed"] ? () : nil
    }
    let token = try #require(revocations.first?.form["token"])
    #expect(site.gateway.log.firstRange(of: Array(token.utf8)) == nil)
    #expect(!response.text.contains(token))
  }

  @Test("disconnect of a user whom the store has lost answers 404, and ends what the gateway has in its cache")
  func disconnectingLost() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    let ben = try site.signedIn(as: "ben")
    for visitor in [anna, ben] { #expect(try site.application(visitor) == 200) }
    // As after a failover that lost the sign-in.
    let program = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=30)
      for table in ["sessions", "refresh_tokens", "accounts"]:
          database.execute(f"DELETE FROM {table} WHERE subject = ?", [sys.argv[2]])
      database.commit()
      """
    let lost = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", program, "\(site.gateway.directory.path)/cordon.db", subject])
    #expect(lost.exit == .code(0), "\(lost)")
    #expect(try ask("POST", "/accounts/\(subject)/disconnect").status == 404)
    #expect(try site.application(anna) != 200)
    #expect(try site.application(ben) == 200)
  }

  @Test("The sessions of an account are listed in pages, and the command lists all of them, however many")
  func manySessions() throws {
    defer { site.stop() }
    for _ in 0..<3 { _ = try site.signedIn() }
    let first = try ask("GET", "/accounts/\(subject)/sessions?limit=2")
    let next = try #require(first.json()["next"] as? String)
    let second = try ask("GET", "/accounts/\(subject)/sessions?limit=2&after=\(next)")
    #expect(try Set(handles(first) + handles(second)).count == 3 && second.json()["next"] == nil, "\(second.text)")
    for bad in ["limit=0", "limit=1001", "after=x", "after=1.", "before=x"] {
      #expect(try ask("GET", "/accounts/\(subject)/sessions?\(bad)").status == 400, "\(bad)")
    }
    let program = """
      import os, sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=30)
      columns = "subject, client_id, began, ends, last_seen, user_agent"
      row = database.execute(f"SELECT {columns} FROM sessions WHERE subject = ?", [sys.argv[2]]).fetchone()
      insertion = f"INSERT INTO sessions (handle, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"
      database.executemany(insertion, ([os.urandom(16), *row] for _ in range(2500)))
      database.commit()
      """
    let filled = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", program, "\(site.gateway.directory.path)/cordon.db", subject])
    #expect(filled.exit == .code(0), "\(filled)")
    #expect(try handles(ask("GET", "/accounts/\(subject)/sessions")).count == 1_000)
    let listed = try cordon("accounts", "sessions", subject, "--json")
    let sessions = try JSONSerialization.jsonObject(with: Data(listed.out.utf8)) as? [[String: Any]] ?? []
    #expect(listed.exit == .code(0) && Set(sessions.compactMap { $0["handle"] as? String }).count == 2_503)
  }

  @Test("The web's token and each app's are revoked under the client that each was given to, again where one was not")
  func eachClient() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    for app in GatewayConfiguration.appIDs {
      let answer = try site.apple.authorizeNatively("anna", app: app, nonce: "n")
      let order = ["identity_token": answer.identityToken, "authorization_code": answer.code, "nonce": "n"]
      #expect(try site.gateway.client.post("/.auth/native", json: order).status == 200)
    }
    let clients = Set([GatewayConfiguration.clientID] + GatewayConfiguration.appIDs)
    try site.apple.fault("revoke", "refuse", ["error": "invalid_client", "times": 1])
    let refused = try ask("POST", "/accounts/\(subject)/disconnect")
    #expect(refused.status == 502, "\(refused.text)")
    #expect(try anna.fetch(site.own("session")).status == 200)
    try site.apple.forgetRequests()
    #expect(try ask("POST", "/accounts/\(subject)/disconnect").status == 200)
    let revocations = try site.apple.requests(at: "/auth/revoke")
    // Apple refuses a token under another client's name.
    #expect(revocations.map(\.status) == [200, 200, 200])
    #expect(Set(revocations.compactMap { $0.form["client_id"] }) == clients)
    #expect(Set(revocations.compactMap { $0.form["token"] }).count == 3)
    #expect(try site.apple.control.get("/simulator").json()["refresh_tokens"] as? Int == 0, "Apple knows none any more")
    #expect(try anna.fetch(site.own("session")).status == 401)
  }

  @Test("An account whose token Apple does not revoke is not forgotten, unless that is asked for")
  func unrevoked() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.fault("revoke", "status", ["status": 500, "times": 1])
    let refused = try ask("POST", "/accounts/\(subject)/disconnect")
    #expect(refused.status == 502, "\(refused.text)")
    #expect(try refused.json()["forgotten"] as? Bool == false)
    #expect(try anna.fetch(site.own("session")).status == 200)
    site.apple.stop()
    let unreachable = try ask("POST", "/accounts/\(subject)/disconnect")
    #expect(unreachable.status == 502 && unreachable.text.contains("not_sent"))
    #expect(try anna.fetch(site.own("session")).status == 200)
    #expect(try ask("POST", "/accounts/\(subject)/disconnect?force=true").status == 200)
    #expect(try anna.fetch(site.own("session")).status == 401)
    let audited = try poll("the acts in the audit") {
      let lines = try audit("administration").filter { $0["act"] as? String == "disconnect" }
      return lines.count == 3 ? lines : nil
    }
    #expect(audited.map { $0["failed"] as? String } == ["not_revoked", "not_revoked", nil])
  }

  @Test("The commands do the same: find, sessions, end, disconnect")
  func commands() throws {
    defer { site.stop() }
    let visitors = try (0..<3).map { _ in try site.signedIn() }
    let found = try cordon("accounts", "find", "--email", "anna.bergstrom@example.com")
    #expect(found.exit == .code(0), "\(found.error)")
    #expect(found.out.contains(subject) && found.out.contains("\nconfirmed "), "\(found.out)")
    let listed = try cordon("accounts", "sessions", subject, "--json")
    let sessions = try JSONSerialization.jsonObject(with: Data(listed.out.utf8)) as? [[String: Any]] ?? []
    #expect(sessions.count == 3)
    let handle = try #require(visitors[1].fetch(site.own("session")).json()["session_id"] as? String)
    #expect(try cordon("sessions", "end", handle).out == "1 session ended.\n")
    #expect(try visitors.map { try $0.fetch(site.own("session")).status } == [200, 401, 200])
    #expect(try cordon("sessions", "end", "--all", subject).out == "2 sessions ended.\n")
    #expect(try visitors[0].fetch(site.own("session")).status == 401)
    let again = try cordon("sessions", "end", handle)
    #expect(again.exit == .code(1) && again.error.contains("no such session"))
    #expect(again.error.contains("cordon accounts sessions SUB"), "\(again.error)")
    // One session ID in sixty-four begins with a hyphen.
    for handle in ["-AAAAAAAAAAAAAAAAAAAAA", "--AAAAAAAAAAAAAAAAAAAA", "-hAAAAAAAAAAAAAAAAAAAA"] {
      let odd = try cordon("sessions", "end", handle)
      #expect(odd.exit == .code(1) && odd.error.contains("no such session"), "\(odd.error)")
    }
    let gone = try cordon("accounts", "disconnect", subject)
    #expect(gone.exit == .code(0) && gone.out.contains("The account is deleted"), "\(gone.error)")
    let nobody = try cordon("accounts", "find", "--subject", subject)
    #expect(nobody.exit == .code(1) && nobody.error.contains("Nobody"))
    let none = try cordon("accounts", "find", "--subject", subject, "--json")
    #expect(none.exit == .code(1) && none.error.contains("Nobody"), "\(none)")
    #expect(try (JSONSerialization.jsonObject(with: Data(none.out.utf8)) as? [Any])?.isEmpty == true, "\(none)")
    #expect(try cordon("sessions", "end").exit == .code(64))
    site.gateway.stop()
    let away = try cordon("accounts", "find", "--subject", subject)
    #expect(away.exit == .code(1) && away.error.contains("cannot be reached"), "\(away.error)")
  }

  @Test(
    "With a file that is invalid since an edit, commands look and end access, and tell the problems; none gives access",
    arguments: ["[listen.timeouts]\nidle = \"never\"\n", "nonsense = [1\n", "[upstream\n"])
  func invalidFile(ending: String) throws {
    defer { site.stop() }
    var configuration = site.gateway.configuration
    configuration["admin", "token_file"] = "\"admin.token\""
    configuration["access", "deny_groups"] = "[\"blocked\"]"
    configuration.ending = "[[group]]\nname = \"machines\"\n[[group]]\nname = \"blocked\"\n"
    _ = try configuration.install(in: site.gateway.directory)
    #expect(try cordon("reload").exit == .code(0))
    for group in ["machines", "blocked"] {
      #expect(try cordon("groups", "add", group, "001234.later.5678").exit == .code(0))
    }
    #expect(try cordon("tokens", "create", "--name", "backup", "--group", "machines").exit == .code(0))
    let (anna, ben) = (try site.signedIn(), try site.signedIn(as: "ben"))
    let other = try site.apple.subject(of: "ben")
    configuration.ending += ending
    _ = try configuration.install(in: site.gateway.directory)

    let found = try cordon("accounts", "find", "--email", "anna.bergstrom@example.com")
    #expect(found.exit == .code(0) && found.out.contains(subject), "\(found)")
    let banned = try cordon("accounts", "ban", "anna.bergstrom@example.com")
    #expect(banned.exit == .code(0) && banned.out.contains("is banned for good; 1 session ended."), "\(banned)")
    #expect(banned.error.contains("gateway.conf:") && banned.error.contains("only [admin] of it is used"), "\(banned)")
    #expect(try anna.fetch(site.own("session")).status == 401)
    #expect(try cordon("sessions", "end", "--all", other).out == "1 session ended.\n")
    #expect(try ben.fetch(site.own("session")).status == 401)
    #expect(try cordon("tokens", "revoke", "backup").exit == .code(0))
    let json = try cordon("accounts", "list", "--json")
    let listed = try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [[String: Any]]
    #expect(json.exit == .code(0) && listed?.count == 2, "\(json)")

    let giving = [
      ["accounts", "unban", subject], ["groups", "add", "machines", other],
      ["tokens", "create", "--name", "new", "--group", "machines"], ["invitations", "create", "--group", "machines"],
      ["groups", "remove", "blocked", "001234.later.5678"],
    ]
    for arguments in giving {
      let refused = try ServerProcess.run(
        Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path)
      #expect(refused.exit == .code(78) && refused.standardError.contains("gateway.conf:"), "\(refused)")
    }
    #expect(try cordon("groups", "remove", "machines", "001234.later.5678").exit == .code(0))
    let groups = try JSONSerialization.jsonObject(with: Data(cordon("groups", "list", "--json").out.utf8))
    let listedGroups = try #require(groups as? [[String: Any]])
    #expect(listedGroups.map { $0["name"] as? String } == ["blocked", "machines"])
    #expect(listedGroups.map { $0["added"] as? Int } == [1, 0])
    #expect(listedGroups.map { $0["denies"] as? Bool } == [true, false])
    site.gateway.stop()
    #expect(try cordon("accounts", "ban", other).exit == .code(78), "nothing was done, and the file may be why")
  }

  @Test("With an invalid file, a misspelt key of [admin] names no gateway, so that the default address is not asked")
  func misspeltAdmin() throws {
    defer { site.stop() }
    let file = "\(site.gateway.directory.path)/gateway.conf"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let misspelt = text.replacing("token_file = ", with: "token_fil = ")
    #expect(misspelt != text)
    _ = try site.gateway.directory.write(misspelt, to: "gateway.conf")
    let refused = try cordon("accounts", "ban", subject)
    #expect(refused.exit == .code(78) && refused.error.contains("admin.token_fil"), "\(refused)")
    #expect(!refused.error.contains("only [admin] of it is used"), "\(refused)")
    let reload = try cordon("reload")
    #expect(reload.exit == .code(78) && reload.error.contains("the [admin] table cannot be read"), "\(reload)")
  }
}
