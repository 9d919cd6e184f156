import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// Requests for access and machine tokens over time, by the commands and through the process.
//
// - Requests are listed, admitted by code and by subject, and rejected, on SQLite and PostgreSQL.
// - A record that is damaged is named by the lists, which show the others.
// - A request waits for thirty days; a banned user cannot ask; at most 10,000 wait.
// - A token ends when it expires, with what is open of it, and meets no condition that is about users.

@SystemActor
@Suite("Requests and tokens", .serialized)
struct AccessCommandTests {
  private static let day = 86_400

  private static func adjust(_ configuration: inout GatewayConfiguration) {
    AccessSite.adjust(&configuration)
    configuration["admin", "token_file"] = "\"admin.token\""
  }

  private func run(_ site: Site, _ arguments: String...) throws -> (
    exit: ServerProcess.Exit, standardOutput: String, standardError: String
  ) {
    try ServerProcess.run(
      Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path)
  }

  /// Asks for access, and returns the code.
  private func ask(_ visitor: Visitor, _ site: Site) throws -> String {
    let fields = [("Origin", site.origin), ("Accept", "application/json")]
    let answer = try visitor.fetch(site.own("request-access"), method: "POST", fields: fields)
    guard let code = try answer.json()["code"] as? String else { throw HarnessError.malformed(answer.text) }
    return code
  }

  // MARK: Requests

  @Test("Requests are listed, admitted by code and by subject, and rejected by the commands", arguments: [true, false])
  func requests(isSQLite: Bool) throws {
    let cluster = isSQLite ? nil : try Cluster(1, adjust: Self.adjust)
    let site = try cluster?.site ?? Site(adjust: Self.adjust)
    defer { if let cluster { cluster.stop() } else { site.stop() } }
    let users = ["ben", "carl", "dana"]
    try AccessSite.addUser("carl", to: site)
    let visitors = try users.map { try site.signedIn(as: $0) }
    let codes = try visitors.map { try ask($0, site) }
    let list = try run(site, "requests", "list")
    #expect(list.exit == .code(0) && codes.allSatisfy(list.standardOutput.contains), "\(list)")
    let json = try run(site, "requests", "list", "--json").standardOutput
    let listed = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
    // Those of one second are in the order of their codes.
    #expect(listed.compactMap { $0["code"] as? String }.sorted() == codes.sorted(), "\(json)")
    #expect(try run(site, "requests", "admit", "0000-0000", "--group", "guests").exit == .code(1))
    let misspelt = try run(site, "requests", "admit", codes[0], "--group", "guest")
    #expect(misspelt.exit == .code(1) && misspelt.standardError.contains("did you mean guests?"), "\(misspelt)")
    #expect(try run(site, "requests", "admit", codes[0].lowercased(), "--group", "guests").exit == .code(0))
    let carl = try site.apple.subject(of: "carl")
    #expect(try run(site, "requests", "admit", carl, "--group", "guests").exit == .code(0))
    #expect(try run(site, "requests", "reject", codes[2]).exit == .code(0))
    #expect(try run(site, "requests", "reject", codes[2]).exit == .code(1))
    #expect(try run(site, "requests", "list").standardOutput.contains("Nobody"))
    #expect(try visitors.map { try $0.fetch(site.origin + "/").status } == [401, 401, 403])
    for user in users.prefix(2) { #expect(try site.signedIn(as: user).open(site.origin + "/").status == 200) }
    // Who was rejected may ask again, and gets another code.
    #expect(try ask(visitors[2], site) != codes[2])
  }

  @Test("A subject that is probably mistyped is taken with a note, and one that looks like Apple's without")
  func mistypedSubject() throws {
    let site = try Site(adjust: Self.adjust)
    defer { site.stop() }
    let note = "note: \"nonsense\" does not look like a subject of Apple's, and no account has it"
    let added = try run(site, "groups", "add", "guests", "nonsense")
    #expect(added.exit == .code(0) && added.standardError.contains(note), "\(added)")
    let banned = try run(site, "accounts", "ban", "nonsense")
    #expect(banned.exit == .code(0) && banned.standardError.contains(note), "\(banned)")
    let usual = try run(site, "groups", "add", "guests", "001234.0123456789abcdef0123456789abcdef.0123")
    #expect(usual.exit == .code(0) && usual.standardError.isEmpty, "\(usual)")
    let listed = try run(site, "accounts", "list", "--seen-since", "yesterday")
    #expect(listed.standardError.contains("2026-12-31 (the beginning of that day, UTC)"), "\(listed)")
  }

  @Test("An address that Apple has not verified adds nobody to a group, and is marked in lists")
  func unverifiedAddress() throws {
    let site = try Site(adjust: Self.adjust)
    defer { site.stop() }
    let email = "boss@example.com"
    try site.apple.add(user: ["id": "mallory", "first_name": "M", "email": email, "email_verified": false])
    let mallory = try site.signedIn(as: "mallory")
    let subject = try site.apple.subject(of: "mallory")
    _ = try ask(mallory, site)
    let mark = "\(email) (not verified)"
    for arguments in [["requests", "list"], ["accounts", "list"]] {
      let list = try run(site, arguments[0], arguments[1]).standardOutput
      #expect(list.contains(mark), "\(list)")
    }
    let json = try run(site, "requests", "list", "--json").standardOutput
    #expect(json.contains("\"email_verified\":false"), "\(json)")
    let refused = try run(site, "groups", "add", "guests", email)
    #expect(refused.exit == .code(1), "\(refused)")
    #expect(
      refused.standardError.contains("not verified the address \(email) of the account \(subject)"), "\(refused)")
    #expect(try mallory.fetch(site.origin + "/").status == 403)
    // Of two accounts the verified one is the member; a ban must name one.
    try AccessSite.addUser("boss", to: site)
    let boss = try site.signedIn(as: "boss")
    let added = try run(site, "groups", "add", "guests", email)
    #expect(added.exit == .code(0), "\(added)")
    #expect(added.standardOutput.contains(try site.apple.subject(of: "boss")), "\(added)")
    // Signed in before the admission: programs get 401 until the next sign-in.
    #expect(try boss.fetch(site.origin + "/").status == 401)
    #expect(try mallory.fetch(site.origin + "/").status == 403)
    let banned = try run(site, "accounts", "ban", email)
    #expect(banned.exit == .code(1), "\(banned)")
    #expect(banned.standardError.contains("\(subject) (address not verified)"), "\(banned)")
    // By subject the operator decides.
    #expect(try run(site, "groups", "add", "guests", subject).exit == .code(0))
  }

  @Test("With identity.allow_unverified_email an unverified address selects the account to add to a group")
  func allowedUnverifiedAddress() throws {
    let site = try Site(adjust: {
      Self.adjust(&$0)
      $0["identity", "allow_unverified_email"] = "true"
    })
    defer { site.stop() }
    let email = "boss@example.com"
    try site.apple.add(user: ["id": "mallory", "first_name": "M", "email": email, "email_verified": false])
    _ = try site.signedIn(as: "mallory")
    let added = try run(site, "groups", "add", "guests", email)
    #expect(added.exit == .code(0), "\(added)")
  }

  @Test("A request for access waits for thirty days, and a banned user cannot ask")
  func thirtyDays() throws {
    let site = try Site(fakeClock: true, adjust: Self.adjust)
    defer { site.stop() }
    let code = try ask(try site.signedIn(as: "dana"), site)
    try site.setClock(secondsAhead: 30 * Self.day - 60)
    #expect(try run(site, "requests", "list").standardOutput.contains(code))
    let waiting = try site.signedIn(as: "dana").open(site.origin + "/")
    #expect(waiting.status == 403 && site.code(in: waiting.text) == code)
    try site.setClock(secondsAhead: 30 * Self.day + 60)
    #expect(try run(site, "requests", "list").standardOutput.contains("Nobody"))
    #expect(try run(site, "requests", "admit", code, "--group", "guests").exit == .code(1))
    let dana = try site.signedIn(as: "dana")
    let refused = try dana.open(site.origin + "/")
    #expect(refused.status == 403 && site.code(in: refused.text) == nil && refused.text.contains("request-access"))
    try site.gateway.order("PUT", site.ban(of: "dana"))
    let own = [("Origin", site.origin)]
    #expect(try dana.fetch(site.own("request-access"), method: "POST", fields: own).status == 401)
    #expect(try run(site, "requests", "list").standardOutput.contains("Nobody"))
  }

  @Test("At most 10,000 requests for access wait in SQLite, too")
  func bound() throws {
    let site = try Site(adjust: Self.adjust)
    defer { site.stop() }
    let (ben, dana) = (try site.signedIn(as: "ben"), try site.signedIn(as: "dana"))
    let subject = try site.apple.subject(of: "ben")
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    let program = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1])
      columns = [row[1] for row in database.execute("PRAGMA table_info(accounts)") if row[1] != "subject"]
      row = database.execute("SELECT %s FROM accounts WHERE subject = ?" % ", ".join(columns), [sys.argv[2]]).fetchone()
      asked = database.execute("SELECT latest_authorization FROM accounts").fetchone()[0]
      for number in range(9999):
          database.execute(
              "INSERT INTO accounts (subject, %s) VALUES (?%s)" % (", ".join(columns), ", ?" * len(columns)),
              ["asker.%05d" % number, *row])
          database.execute(
              "INSERT INTO access_requests (code, subject, asked) VALUES (?, ?, ?)",
              ["0000-%04d" % number, "asker.%05d" % number, asked])
      database.commit()
      """
    let filled = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", program, "\(site.gateway.directory.path)/cordon.db", subject])
    #expect(filled.exit == .code(0), "\(filled)")
    try site.gateway.restart(with: site.gateway.configuration)
    _ = try ask(ben, site)
    let fields = [("Origin", site.origin), ("Accept", "application/json")]
    let refused = try dana.fetch(site.own("request-access"), method: "POST", fields: fields)
    #expect(refused.status == 503 && refused.text.contains("access_requests_full"), "\(refused.text)")
    _ = try ask(ben, site)
    #expect(try run(site, "requests", "reject", "0000-0000").exit == .code(0))
    _ = try ask(dana, site)
  }

  // MARK: Damaged records

  @Test("Lists show the others beside an account whose record is damaged, and name it, until it is removed")
  func damaged() throws {
    let site = try Site(adjust: Self.adjust)
    defer { site.stop() }
    let codes = try ["ben", "dana"].map { try ask(try site.signedIn(as: $0), site) }
    let (ben, dana) = (try site.apple.subject(of: "ben"), try site.apple.subject(of: "dana"))
    let program = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1])
      database.execute("UPDATE accounts SET claims = '{' WHERE subject = ?", [sys.argv[2]])
      database.commit()
      """
    let damaged = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", program, "\(site.gateway.directory.path)/cordon.db", ben])
    #expect(damaged.exit == .code(0), "\(damaged)")
    for (name, gone, left) in [("accounts", ben, dana), ("requests", codes[0], codes[1])] {
      let list = try run(site, name, "list")
      #expect(list.exit == .code(0), "\(list)")
      #expect(list.standardOutput.contains(left) && !list.standardOutput.contains(gone), "\(list)")
      #expect(list.standardError.contains("note: \(gone) is damaged and not listed; "), "\(list)")
      let json = try run(site, name, "list", "--json").standardOutput
      #expect(try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [Any]).count == 1, "\(json)")
    }
    let disconnected = try run(site, "accounts", "disconnect", "--force", ben)
    #expect(disconnected.exit == .code(0), "\(disconnected)")
    #expect(disconnected.standardOutput.contains("The account is deleted; "), "\(disconnected)")
    for name in ["accounts", "requests"] {
      let list = try run(site, name, "list")
      #expect(list.exit == .code(0) && !list.standardError.contains("damaged"), "\(list)")
    }
  }

  // MARK: Tokens

  @Test("A token ends when it expires, with what is open of it, and meets no condition that is about users")
  func token() throws {
    let site = try Site(fakeClock: true, upstream: StreamingApplication.answer) {
      $0["admin", "token_file"] = "\"admin.token\""
      $0["access", "tokens"] = "true"
      $0["access", "allow_groups"] = #"["machines"]"#
      $0.ending = ["machines", "staff"].map { "[[group]]\nname = \"\($0)\"\n" }.joined()
      for (path, line) in [
        ("signed-in", "access = \"signed-in\""), ("denied", "deny_groups = [\"machines\"]"),
        ("network", "networks = [\"10.0.0.0/8\"]"), ("claim", "require_claims = [\"email_verified=true\"]"),
        ("email", "private_email = \"require\""), ("post", "methods = [\"POST\"]\nallow_groups = [\"staff\"]"),
        ("subject", "allow_subjects = [\"token.backup\"]"), ("fresh", "max_age = \"1h\""),
      ] { $0.ending += "[[route]]\npath = \"/\(path)/\"\n\(line)\n" }
    }
    defer { site.stop() }
    let made = try run(site, "tokens", "create", "--name", "backup", "--group", "machines", "--expires", "2d")
    let fields = [("Authorization", "Bearer \(made.standardOutput.trimmingCharacters(in: .newlines))")]
    func status(_ path: String, _ method: String = "GET") throws -> Int {
      try site.gateway.client.send(method, path, fields: fields, body: method == "GET" ? nil : []).status
    }
    try site.setClock(secondsAhead: 2 * Self.day - 60)
    for path in ["/", "/post/x", "/fresh/x"] { #expect(try status(path) == 200, "\(path)") }
    #expect(try status("/post/x", "POST") == 403)
    for path in ["signed-in", "denied", "network", "claim", "email", "subject"] {
      #expect(try status("/\(path)/x") == 403, "\(path)")
    }
    let events = try site.gateway.connect()
    try events.send(
      "GET /events HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nAuthorization: \(fields[0].1)\r\n\r\n")
    _ = try events.read(through: "data: first\n\n")
    try site.setClock(secondsAhead: 2 * Self.day + 1)
    #expect(try !String(decoding: events.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
    try poll("the token to be refused") { try status("/") == 401 ? () : nil }
    #expect(try site.apple.tokenRequests("refresh_token").isEmpty)
  }
}
