import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// What was decided about access stays decided, in SQLite and in PostgreSQL.
//
// - A ban outlives `disconnect`, restarts and the loss of all session secrets; a token does, too.
// - `store copy` takes bans, members, requests, invitations and tokens along.
// - `accounts migrate` moves bans, members, requests and used invitations to the new subjects.

@SystemActor
@Suite("Access that stays", .serialized)
struct AccessTransferTests {
  private static let newTeam = "NEWTEAM123"
  private static let newKey = "NEWKEY4567"

  private static func adjust(_ configuration: inout GatewayConfiguration) {
    AccessSite.adjust(&configuration)
    configuration["admin", "token_file"] = "\"admin.token\""
    configuration["access", "tokens"] = "true"
  }

  /// A site on SQLite or PostgreSQL, and what stops it.
  private func make(isSQLite: Bool) throws -> (site: Site, stop: () -> Void) {
    if isSQLite {
      let site = try Site(adjust: Self.adjust)
      return (site, { site.stop() })
    }
    let cluster = try Cluster(1, adjust: Self.adjust)
    return (cluster.site, { cluster.stop() })
  }

  /// Runs a command, which must succeed, and returns its output.
  @discardableResult
  private func cordon(_ site: Site, _ arguments: String...) throws -> String {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path,
      by: .seconds(120))
    guard result.exit == .code(0) else { throw HarnessError.malformed("\(arguments): \(result)") }
    return result.standardOutput.trimmingCharacters(in: .newlines)
  }

  // MARK: Decisions

  /// One decision of each kind: Ben is banned, Dana a member, Carl waits, Eleni used one place of an invitation, and a
  /// machine has a token.
  private struct Decisions {
    let code: String
    let link: String
    let token: String
  }

  private func decide(_ site: Site) throws -> Decisions {
    try AccessSite.addUser("carl", to: site)
    for user in ["ben", "dana"] { _ = try site.signedIn(as: user) }
    try cordon(site, "accounts", "ban", "ben@example.org", "--reason", "a test")
    try cordon(site, "groups", "add", "guests", try site.apple.subject(of: "dana"))
    let carl = try site.signedIn(as: "carl")
    let asked = try carl.fetch(
      site.own("request-access"), method: "POST", fields: [("Origin", site.origin), ("Accept", "application/json")])
    let code = try #require(try asked.json()["code"] as? String)
    let link = try cordon(site, "invitations", "create", "--group", "guests", "--uses", "5")
    let eleni = try site.signedIn(as: "eleni")
    try join(eleni, link)
    let token = try cordon(site, "tokens", "create", "--name", "backup", "--group", "guests")
    return Decisions(code: code, link: link, token: token)
  }

  private func join(_ guest: Visitor, _ link: String) throws {
    let page = try guest.open(link)
    let form = try #require(page.forms.first { $0.action.contains("/invite/") }, "\(page.status) \(page.text)")
    #expect(try guest.submit(form).status == 200)
  }

  private func expectDecided(_ decisions: Decisions, _ site: Site) throws {
    let ben = Visitor()
    #expect(try ben.signIn(site, as: "ben").text.contains("Your account is blocked"))
    #expect(ben.jar["__Host-cordon"] == nil)
    #expect(try site.signedIn(as: "dana").open(site.origin + "/").status == 200)
    let carl = try site.signedIn(as: "carl").open(site.origin + "/")
    #expect(carl.status == 403 && site.code(in: carl.text) == decisions.code)
    let eleni = try site.signedIn(as: "eleni")
    #expect(try eleni.open(site.origin + "/").status == 200)
    try join(eleni, decisions.link)
    let list = try cordon(site, "invitations", "list", "--json")
    let invitations = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]
    #expect(invitations?.count == 1 && invitations?.first?["used"] as? Int == 1, "\(list)")
    #expect(try Visitor().open(decisions.link).status == 200)
    let machine = [("Authorization", "Bearer \(decisions.token)")]
    #expect(try site.gateway.client.get("/", fields: machine).status == 200)
  }

  // MARK: Tests

  @Test(
    "A ban and a token outlive disconnect, a restart and the loss of all session secrets", arguments: [true, false])
  func outlive(isSQLite: Bool) throws {
    let (site, stop) = try make(isSQLite: isSQLite)
    defer { stop() }
    let subject = try site.apple.subject(of: "ben")
    let decisions = try decide(site)
    try cordon(site, "accounts", "disconnect", subject)
    try site.gateway.directory.write("another secret of sessions, long enough to be one\n", to: "session.key")
    try site.gateway.restart()
    let ben = Visitor()
    #expect(try ben.signIn(site, as: "ben").text.contains("Your account is blocked"))
    #expect(ben.jar["__Host-cordon"] == nil)
    let machine = [("Authorization", "Bearer \(decisions.token)")]
    #expect(try site.gateway.client.get("/", fields: machine).status == 200)
    try cordon(site, "accounts", "unban", subject)
    #expect(try site.signedIn(as: "ben").open(site.origin + "/").status == 403)
  }

  @Test("store copy takes bans, members, requests, invitations and tokens along")
  func copied() throws {
    let server = try PostgreSQLServer()
    let (site, stop) = try make(isSQLite: true)
    defer { stop() }
    let decisions = try decide(site)
    var configuration = site.gateway.configuration
    configuration["store", "url"] = "\"\(try server.makeDatabase())\""
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    _ = try configuration.install(in: site.gateway.directory)
    try cordon(site, "store", "copy", "--from", "cordon.db")
    try site.gateway.restart(with: configuration)
    try expectDecided(decisions, site)
  }

  @Test("accounts migrate moves bans, members, requests and used invitations", arguments: [true, false])
  func migrated(isSQLite: Bool) throws {
    let (site, stop) = try make(isSQLite: isSQLite)
    defer { stop() }
    let decisions = try decide(site)
    try transfer(site)
    try cordon(site, "accounts", "migrate", "--complete")
    try expectDecided(decisions, site)
    let new = try site.apple.subject(of: "ben", team: Self.newTeam)
    let banned = try cordon(site, "accounts", "find", "--subject", new)
    #expect(banned.contains("a test"), "\(banned)")
  }

  @Test("Before accounts migrate is completed, sign-ins find all of that already", arguments: [true, false])
  func signedInBeforeMigration(isSQLite: Bool) throws {
    let (site, stop) = try make(isSQLite: isSQLite)
    defer { stop() }
    let decisions = try decide(site)
    try transfer(site)
    try expectDecided(decisions, site)
    let mapping = try cordon(site, "accounts", "migrate", "--complete")
    for user in ["ben", "carl", "dana", "eleni"] {
      let new = try site.apple.subject(of: user, team: Self.newTeam)
      #expect(try mapping.contains("\(site.apple.subject(of: user))\t\(new)"), "\(mapping)")
    }
    try expectDecided(decisions, site)
  }

  /// Prepares the accounts, and transfers the application.
  private func transfer(_ site: Site) throws {
    try cordon(site, "accounts", "migrate", "--to", Self.newTeam)
    try site.apple.transfer(toTeam: Self.newTeam, keyID: Self.newKey)
    var configuration = site.gateway.configuration
    configuration["apple", "team_id"] = "\"\(Self.newTeam)\""
    configuration["apple", "key_id"] = "\"\(Self.newKey)\""
    try site.gateway.restart(with: configuration)
  }
}
