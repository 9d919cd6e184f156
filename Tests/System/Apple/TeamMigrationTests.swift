import Foundation
import Testing

// An application goes to another team: cordon accounts migrate.
//
// - Before the transfer every account's name on the way is noted; after it accounts move with their sessions.
// - Dry runs change nothing. Wrong orders are refused.
// - Killed in the middle and run again, everything arrives, and every line of the mapping is printed.
// - Bans and deny lists hold under the new subject, before the migration reaches the account and after it, with an
//   account and without.
// - The previous subject leads to the account: to find it, to end its sessions, to disconnect it.

@SystemActor
@Suite("Another team", .serialized)
struct TeamMigrationTests {
  private let site: Site
  private static let newTeam = "NEWTEAM123"
  private static let newKey = "NEWKEY4567"
  private static let users = ["anna", "ben", "dana", "eleni", "eve"]

  init() throws {
    site = try Site(adjust: { $0["admin", "token_file"] = "\"admin.token\"" })
  }

  private func migrate(_ arguments: String...) throws -> (
    exit: ServerProcess.Exit, standardOutput: String, standardError: String
  ) {
    try ServerProcess.run(
      Machine.binary("cordon"), ["accounts", "migrate", "--config", site.gateway.file] + arguments,
      by: .seconds(120))
  }

  private func mapping(_ output: String) -> [String: String] {
    Dictionary(
      output.split(separator: "\n").map { $0.split(separator: "\t").map { String($0) } }
        .filter { $0.count == 2 }.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
  }

  /// The gateway runs with the other team's key from now on, at Apple too.
  /// - Parameter configuration: the gateway's until now; nil for the one that it was first started with.
  private func transfer(_ configuration: GatewayConfiguration? = nil) throws {
    try site.apple.transfer(toTeam: Self.newTeam, keyID: Self.newKey)
    var configuration = configuration ?? site.gateway.configuration
    configuration["apple", "team_id"] = "\"\(Self.newTeam)\""
    configuration["apple", "key_id"] = "\"\(Self.newKey)\""
    try site.gateway.restart(with: configuration)
  }

  private func subject(of visitor: Visitor) throws -> String? {
    let session = try visitor.fetch(site.own("session"))
    return session.status == 200 ? try session.json()["sub"] as? String : nil
  }

  @Test("Accounts move with their sessions: prepared before the transfer, completed after it")
  func moves() throws {
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(), try site.signedIn(as: "ben"))
    let old = try site.apple.subject(of: "anna")
    let dry = try migrate("--to", Self.newTeam, "--dry-run")
    #expect(dry.exit == .code(0) && dry.standardError.contains("2 accounts would be migrated"), "\(dry.standardError)")
    #expect(try site.apple.requests(at: "/auth/usermigrationinfo").isEmpty)
    // Nothing is prepared yet: nothing can be completed.
    let early = try migrate("--complete")
    #expect(early.standardError.contains("2 not_prepared") && early.standardOutput.isEmpty, "\(early.standardError)")
    #expect(early.exit == .code(1))
    #expect(try migrate("--to", GatewayConfiguration.teamID).exit == .code(1))

    let prepared = try migrate("--to", Self.newTeam)
    #expect(prepared.exit == .code(0) && prepared.standardError.contains("2 done"), "\(prepared.standardError)")
    let calls = try site.apple.requests(at: "/auth/usermigrationinfo")
    #expect(calls.map { $0.form["target"] } == [Self.newTeam, Self.newTeam])
    #expect(calls.allSatisfy { $0.status == 200 && $0.form["client_id"] == GatewayConfiguration.clientID })
    // Once more: Apple is not asked again.
    #expect(try migrate("--to", Self.newTeam).standardError.contains("2 done_before"))
    #expect(try site.apple.requests(at: "/auth/usermigrationinfo").count == 2)
    #expect(try subject(of: anna) == old)

    try transfer()
    let new = try site.apple.subject(of: "anna", team: Self.newTeam)
    #expect(try migrate("--complete", "--dry-run").standardError.contains("2 accounts would be migrated"))
    #expect(try subject(of: anna) == old)
    let completed = try migrate("--complete")
    #expect(completed.exit == .code(0) && completed.standardError.contains("2 done"), "\(completed.standardError)")
    #expect(mapping(completed.standardOutput)[old] == new)
    // Still signed in, under the new name; the application hears of it.
    #expect(try subject(of: anna) == new)
    #expect(try subject(of: ben) == (try site.apple.subject(of: "ben", team: Self.newTeam)))
    _ = try anna.fetch("\(site.origin)/after")
    let seen = try site.upstream.waitForRequest { $0.target == "/after" }
    #expect(seen.fields["X-Forwarded-User"] == new)
    // The next sign-in finds the moved account, with its name.
    let again = try site.signedIn()
    #expect(try subject(of: again) == new)
    #expect(try again.fetch(site.own("session")).json()["name"] as? String == "Anna Bergström")
    #expect(mapping(try migrate("--complete").standardOutput).count == 2)
    let json = try migrate("--complete", "--json").standardOutput.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String]
    }
    #expect(json.count == 2 && json.contains { $0 == ["sub": old, "new_sub": new, "outcome": "done_before"] })
    let found = try ServerProcess.run(
      Machine.binary("cordon"), ["accounts", "find", "--config", site.gateway.file, "--subject", new])
    #expect(found.standardOutput.contains(old), "\(found.standardOutput)")
  }

  @Test("A user who signs in between transfer and move keeps both sessions, under the new name")
  func signInBetween() throws {
    defer { site.stop() }
    let before = try site.signedIn()
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
    try transfer()
    let between = try site.signedIn()
    let new = try site.apple.subject(of: "anna", team: Self.newTeam)
    #expect(try subject(of: between) == new)
    #expect(try migrate("--complete").exit == .code(0))
    for visitor in [before, between] { #expect(try subject(of: visitor) == new) }
  }

  @Test("Banned users are refused after the transfer, before the migration and after it, until the ban is lifted")
  func banned() throws {
    defer { site.stop() }
    for user in ["ben", "dana"] { _ = try site.signedIn(as: user) }
    // Ben has an account, Dana's is deleted after the preparation, and Eve never had one.
    let users = ["ben", "dana", "eve"]
    for user in users { try site.gateway.order("PUT", site.ban(of: user)) }
    let prepared = try migrate("--to", Self.newTeam)
    #expect(prepared.exit == .code(0) && prepared.standardError.contains("3 done"), "\(prepared.standardError)")
    #expect(!prepared.standardError.contains("will not hold"), "\(prepared.standardError)")
    try site.gateway.order("POST", "/accounts/\(site.apple.subject(of: "dana"))/disconnect")
    try transfer()
    try expectRefusal(of: users)
    let completed = try migrate("--complete")
    #expect(completed.exit == .code(0), "\(completed.standardError)")
    try expectRefusal(of: users)
    let new = try site.apple.subject(of: "ben", team: Self.newTeam)
    #expect(try mapping(completed.standardOutput)[site.apple.subject(of: "ben")] == new)
    try site.gateway.order("DELETE", "/accounts/\(new)/ban")
    #expect(try subject(of: site.signedIn(as: "ben")) == new)
    // The operator may know the previous subject only.
    try site.gateway.order("DELETE", site.ban(of: "eve"))
    _ = try site.signedIn(as: "eve")
  }

  @Test("An operator who has the previous subject finds the account, ends its sessions and disconnects it")
  func previousSubject() throws {
    defer { site.stop() }
    let anna = try site.signedIn()
    let old = try site.apple.subject(of: "anna")
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
    try transfer()
    #expect(try migrate("--complete").exit == .code(0))
    let new = try site.apple.subject(of: "anna", team: Self.newTeam)
    #expect(try cordon("accounts", "find", "--subject", old).contains(new))
    #expect(try !cordon("accounts", "sessions", old).contains("No sessions"))
    #expect(try subject(of: anna) == new)
    #expect(try cordon("sessions", "end", "--all", old).contains("1 session ended"))
    #expect(try subject(of: anna) == nil)
    try cordon("accounts", "disconnect", old)
    let gone = try ServerProcess.run(
      Machine.binary("cordon"), ["accounts", "find", "--config", site.gateway.file, "--subject", new])
    #expect(gone.exit == .code(1), "\(gone)")
  }

  /// Runs a command, which must succeed, and returns its output.
  @discardableResult
  private func cordon(_ arguments: String...) throws -> String {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), arguments + ["--config", site.gateway.file], by: .seconds(120))
    guard result.exit == .code(0) else { throw HarnessError.malformed("\(arguments): \(result)") }
    return result.standardOutput
  }

  @Test("A ban without an account is migrated with the accounts, and one that cannot follow is reported")
  func bansWithoutAccount() throws {
    defer { site.stop() }
    for user in ["ben", "dana"] { _ = try site.signedIn(as: user) }
    let users = ["ben", "eve"]
    for user in users + ["dana"] { try site.gateway.order("PUT", site.ban(of: user)) }
    try site.gateway.order("POST", "/accounts/\(site.apple.subject(of: "ben"))/disconnect")
    let prepared = try migrate("--to", Self.newTeam)
    #expect(prepared.exit == .code(0) && prepared.standardError.contains("2 done"), "\(prepared.standardError)")
    #expect(prepared.standardError.contains("1 ban will not hold for the new team"), "\(prepared.standardError)")
    // The remedy.
    try site.gateway.order("PUT", site.ban(of: "ben"))
    let again = try migrate("--to", Self.newTeam)
    #expect(again.exit == .code(0) && again.standardError.contains("1 done, 2 done_before"), "\(again.standardError)")
    #expect(!again.standardError.contains("will not hold"), "\(again.standardError)")
    try site.gateway.order("POST", "/accounts/\(site.apple.subject(of: "dana"))/disconnect")
    try transfer()
    let completed = try migrate("--complete")
    #expect(completed.exit == .code(0) && completed.standardError.contains("3 done"), "\(completed.standardError)")
    #expect(completed.standardError.contains("whose account was deleted"), "\(completed.standardError)")
    #expect(mapping(completed.standardOutput).count == 2)
    for user in users {
      let old = try site.apple.subject(of: user)
      #expect(try mapping(completed.standardOutput)[old] == site.apple.subject(of: user, team: Self.newTeam))
    }
    // No longer by the transfer identifier: that was used.
    try expectRefusal(of: users + ["dana"])
  }

  /// Each of these users is told to be banned, and gets no session.
  private func expectRefusal(of users: [String]) throws {
    for user in users {
      let visitor = Visitor()
      let page = try visitor.signIn(site, as: user)
      #expect(page.status == 403 && page.text.contains("Your account is blocked"), "\(user): \(page.text)")
      #expect(visitor.jar["__Host-cordon"] == nil, "\(user)")
    }
  }

  @Test("A user in a group of a deny list stays refused after the transfer, with an account and without")
  func denied() throws {
    defer { site.stop() }
    var configuration = site.gateway.configuration
    configuration.ending = "[[group]]\nname = \"bad\"\n"
    configuration["access", "deny_groups"] = "[\"bad\"]"
    configuration["access", "deny_subjects"] = "[\"\(try site.apple.subject(of: "eve"))\"]"
    try site.gateway.restart(with: configuration)
    _ = try site.signedIn(as: "eve")
    let users = ["ben", "dana"]
    for user in users {
      _ = try site.signedIn(as: user)
      try site.gateway.order("PUT", site.member(user, of: "bad"))
    }
    try site.gateway.order("POST", "/accounts/\(site.apple.subject(of: "dana"))/disconnect")
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
    try transfer(configuration)
    // Eve by the configuration, which has the previous subject.
    for user in users + ["eve"] {
      let visitor = try site.signedIn(as: user)
      #expect(try visitor.fetch(site.origin + "/x").status == 403, "\(user)")
    }
    // Dana's account is of the new team: it needs nothing.
    let completed = try migrate("--complete")
    #expect(completed.standardError.contains("2 done_before, 1 not_prepared"), "\(completed.standardError)")
    for user in users {
      let new = try site.apple.subject(of: user, team: Self.newTeam)
      try site.gateway.order("DELETE", "/groups/bad/members/\(new)")
      #expect(try site.signedIn(as: user).fetch(site.origin + "/x").status == 200, "\(user)")
    }
  }

  @Test("Completing with the old team's configuration is an error that names both teams")
  func otherTeam() throws {
    defer { site.stop() }
    _ = (try site.signedIn(), try site.signedIn(as: "ben"))
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
    for arguments in [["--complete"], ["--complete", "--dry-run"], ["--complete", "--json"]] {
      let wrong = try ServerProcess.run(
        Machine.binary("cordon"), ["accounts", "migrate", "--config", site.gateway.file] + arguments)
      #expect(wrong.exit == .code(1), "\(wrong)")
      #expect(
        wrong.standardError.contains(
          "2 accounts are prepared for team \(Self.newTeam), but apple.team_id of the running gateway is "
            + GatewayConfiguration.teamID), "\(wrong.standardError)")
      #expect(mapping(wrong.standardOutput).isEmpty)
    }
    try transfer()
    let right = try migrate("--complete")
    #expect(right.exit == .code(0) && mapping(right.standardOutput).count == 2, "\(right.standardError)")
  }

  @Test("A user who was not prepared is named with the remedy, and the others are migrated")
  func notPrepared() throws {
    defer { site.stop() }
    _ = try site.signedIn()
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
    _ = try site.signedIn(as: "ben")
    let ben = try site.apple.subject(of: "ben")
    try transfer()
    let completed = try migrate("--complete")
    #expect(completed.exit == .code(1), "\(completed.standardError)")
    #expect(completed.standardError.contains("1 done, 1 not_prepared"), "\(completed.standardError)")
    #expect(completed.standardError.contains("\(ben): not_prepared"), "\(completed.standardError)")
    #expect(completed.standardError.contains("run it with --to TEAM"), "\(completed.standardError)")
    #expect(mapping(completed.standardOutput).count == 1)
  }

  @Test("Killed in the middle and run again, every account arrives and every line is printed")
  func killed() throws {
    defer { site.stop() }
    let visitors = try Self.users.map { try site.signedIn(as: $0) }
    let old = try Self.users.map { try site.apple.subject(of: $0) }
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
    try transfer()
    try site.apple.forgetRequests()
    try site.apple.fault("usermigrationinfo", "slow", ["milliseconds": 700])
    let running = try ServerProcess(
      Machine.binary("cordon"), ["accounts", "migrate", "--config", site.gateway.file, "--complete"])
    _ = try poll("the second account to be under way") {
      try site.apple.requests(at: "/auth/usermigrationinfo").count >= 2 ? true : nil
    }
    try site.gateway.killAndRestart()
    #expect(try running.waitForExit() == .code(1))
    running.stop()
    try site.apple.behave()
    let again = try migrate("--complete")
    #expect(again.exit == .code(0), "\(again.standardError)")
    let lines = mapping(again.standardOutput)
    for (index, user) in Self.users.enumerated() {
      let new = try site.apple.subject(of: user, team: Self.newTeam)
      #expect(lines[old[index]] == new)
      #expect(try subject(of: visitors[index]) == new)
    }
    #expect(lines.count == Self.users.count)
  }

  @Test("Apple away or refusing stops the move with the reason, and a later run goes on")
  func trouble() throws {
    defer { site.stop() }
    _ = try site.signedIn()
    try site.apple.fault("usermigrationinfo", "status", ["status": 503])
    let away = try migrate("--to", Self.newTeam)
    #expect(away.exit == .code(1) && away.standardError.contains("run it again"), "\(away.standardError)")
    try site.apple.behave()
    try site.apple.fault("token", "refuse", ["error": "invalid_client"])
    let refused = try migrate("--to", Self.newTeam)
    #expect(refused.exit == .code(1), "\(refused.standardError)")
    try site.apple.behave()
    #expect(try migrate("--to", Self.newTeam).exit == .code(0))
  }
}
