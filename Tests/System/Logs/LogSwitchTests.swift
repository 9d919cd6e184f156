import Foundation
import Glibc
import TemporaryDirectoryTesting
import Testing

// The three logs, each event of them, and how each is switched.
//
// - Every event of the audit, with its facts, through one life of a process; each alone when only it is configured.
// - Access lines have the fields that are configured, each by itself too, in this order; gateway and upstream together
//   are the whole.
// - JSON where standard output is not a terminal, text where it is one.
// - Each log can be switched off, also while the gateway runs.

@SystemActor
@Suite("The logs and their switches")
struct LogSwitchTests {
  private nonisolated static let names = [
    "sign_in", "email_shared", "sign_in_failed", "sign_out", "stop_using", "session_ended", "check", "revocation",
    "notification", "administration",
  ]

  private static func site(_ adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Site {
    try Site(
      fakeClock: true,
      adjust: {
        $0["log", "format"] = "\"json\""
        $0["admin", "token_file"] = "\"admin.token\""
        adjust(&$0)
      })
  }

  private func lines(_ site: Site, _ kind: String) -> [[String: Any]] {
    site.gateway.log.split(separator: 10).compactMap {
      try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }.filter { $0["kind"] as? String == kind }
  }

  private func administer(_ site: Site, _ method: String, _ target: String) throws -> HTTPResponse {
    try site.gateway.admin.send(
      method, target, fields: [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")],
      body: method == "POST" ? [] : nil)
  }

  /// Everything that the audit tells of happens once at least.
  private func live(_ site: Site) throws {
    // A sign-in that Apple's user broke off.
    let undecided = Visitor()
    try undecided.start(site)
    try undecided.decide(.cancel)
    try undecided.carryBack()
    // A sign-in and a sign-out.
    let anna = try site.signedIn()
    #expect(try anna.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)]).status < 400)
    // A session that an operator ends; a user whose consent is withdrawn; a user who is disconnected.
    let again = try site.signedIn()
    let handle = try #require(again.fetch(site.own("session")).json()["session_id"] as? String)
    #expect(try administer(site, "DELETE", "/sessions/\(handle)").status == 200)
    #expect(try administer(site, "DELETE", "/sessions/\(handle)").status == 404)
    #expect(try site.gateway.admin.get("/accounts?subject=x").status == 401)
    let ben = try site.signedIn(as: "ben")
    let payload = try site.apple.mint([
      "client_id": GatewayConfiguration.clientID, "user": "ben", "notification": "consent-revoked",
    ])
    #expect(try site.gateway.client.post("/.auth/notifications", json: ["payload": payload]).status == 200)
    #expect(try ben.fetch(site.own("session")).status == 401)
    let dana = try site.signedIn(as: "dana")
    #expect(try administer(site, "POST", "/accounts/\(site.apple.subject(of: "dana"))/disconnect").status == 200)
    #expect(try dana.fetch(site.own("session")).status == 401)
    // Somebody with the verified address of somebody else, and somebody who only claims to have it.
    let address = "anna.bergstrom@example.com"
    for (id, isVerified) in [("heir", true), ("pretender", false)] {
      try site.apple.add(user: [
        "id": id, "first_name": "H", "last_name": "B", "email": address, "email_verified": isVerified,
      ])
      _ = try site.signedIn(as: id)
    }
    // A user who stops using the application.
    let fritz = try site.signedIn(as: "heir")
    let stop = try fritz.fetch(
      site.own("account/stop"), method: "POST", fields: [("Origin", site.origin)], form: "stop=yes")
    #expect(stop.status == 200)
    // A revalidation.
    let eve = try site.signedIn(as: "eve")
    try site.setClock(secondsAhead: 36 * 3_600)
    _ = try eve.fetch(site.own("session"))
    _ = try poll("the revalidation") { try site.apple.tokenRequests("refresh_token").first }
    try poll("its verdict") {
      try site.gateway.admin.get("/metrics").text.contains("cordon_checks_total{verdict=\"good\"} 1") ? () : nil
    }
  }

  @Test("Every event of the audit is told in one line with its facts, and users by a keyed hash")
  func audit() throws {
    let site = try Self.site()
    defer { site.stop() }
    try live(site)
    let audit = try poll("every event") { () -> [[String: Any]]? in
      let lines = lines(site, "audit")
      return Set(lines.compactMap { $0["event"] as? String }) == Set(Self.names) ? lines : nil
    }
    func facts(_ event: String, _ key: String) -> [String] {
      audit.filter { $0["event"] as? String == event }.map {
        $0[key] as? String ?? ($0[key] as? Bool).map { "\($0)" } ?? "-"
      }
    }
    #expect(facts("sign_in", "new_account") == ["true", "false", "true", "true", "true", "true", "false", "true"])
    #expect(facts("email_shared", "user") == [facts("sign_in", "user")[4], facts("sign_in", "user")[4]])
    #expect(facts("email_shared", "other") == [facts("sign_in", "user")[0], facts("sign_in", "user")[0]])
    #expect(facts("sign_in_failed", "reason") == ["cancelled"])
    #expect(
      facts("session_ended", "reason") == [
        "by_operator", "consent_revoked", "account_removed", "account_removed", "account_removed",
      ])
    #expect(facts("notification", "type") == ["consent-revoked"])
    #expect(facts("notification", "effect") != ["-"])
    #expect(facts("revocation", "outcome") == ["revoked", "revoked"])
    #expect(facts("stop_using", "outcome") == ["deleted"])
    #expect(facts("check", "verdict") == ["good"])
    #expect(facts("administration", "act") == ["end_session", "end_session", "refused", "disconnect"])
    #expect(facts("administration", "failed") == ["-", "no_session", "-", "-"])
    #expect(facts("administration", "by") == ["token", "token", "nobody", "token"])
    // One and the same name for one user, and nobody's own.
    let users = facts("sign_in", "user")
    #expect(users[0] == users[1] && Set(users).count == 6 && users.allSatisfy { $0.utf8.count == 16 })
    #expect(facts("sign_out", "session") == [facts("sign_in", "session")[0]])
    #expect(audit.allSatisfy { ($0["time"] as? String)?.hasSuffix("Z") == true })
    for event in ["sign_in", "sign_in_failed", "sign_out", "administration"] {
      #expect(!facts(event, "peer").contains("-") && !facts(event, "request").contains("-"), "\(event)")
    }
  }

  @Test("Each event of the audit is told alone where only it is configured", arguments: Self.names)
  func eachAlone(name: String) throws {
    let site = try Self.site { $0["log", "audit_events"] = "[\"\(name)\"]" }
    defer { site.stop() }
    try live(site)
    try poll(name) { lines(site, "audit").isEmpty ? nil : () }
    #expect(Set(lines(site, "audit").compactMap { $0["event"] as? String }) == [name])
  }

  @Test("Audit, access log and application log are each switched off by a reload, and on again")
  func switchedOff() throws {
    let site = try Self.site { $0["log", "access"] = "true" }
    defer { site.stop() }
    func switchAll(on: Bool, reloads: Int) throws {
      var configuration = site.gateway.configuration
      configuration["log", "audit"] = "\(on)"
      configuration["log", "access"] = "\(on)"
      configuration["log", "level"] = on ? "\"info\"" : "\"off\""
      _ = try configuration.install(in: site.gateway.directory)
      site.gateway.process.signal(SIGHUP)
      try poll("the reload") {
        try site.gateway.admin.get("/metrics").text.contains("cordon_config_reloads_total{result=\"ok\"} \(reloads)\n")
          ? () : nil
      }
    }
    try switchAll(on: false, reloads: 1)
    // What told of the reload itself may still be on its way.
    let quiet = "/quiet-\(UInt32.random(in: 0 ... .max))"
    _ = try site.signedIn()
    _ = try site.gateway.client.get(quiet)
    try switchAll(on: true, reloads: 2)
    _ = try site.gateway.client.get("/loud")
    _ = try site.signedIn(as: "ben")
    try poll("the line of a request") { lines(site, "access").contains { $0["path"] as? String == "/loud" } ? () : nil }
    try poll("ben's line") { lines(site, "audit").contains { $0["event"] as? String == "sign_in" } ? () : nil }
    #expect(lines(site, "audit").count { $0["event"] as? String == "sign_in" } == 1)
    #expect(!lines(site, "access").contains { $0["path"] as? String == quiet })
    let told = lines(site, "event").compactMap { $0["message"] as? String }
    #expect(told.count { $0 == "configuration reloaded" } == 1, "only the one that switched it on again")
  }

  @Test("An access line has the fields that are configured, in their order; gateway and upstream are the whole")
  func accessFields() throws {
    let fields = [
      "status", "path", "upstream", "gateway", "duration", "user", "upstream_address", "user_agent", "referer",
    ]
    let site = try Self.site {
      $0["log", "access"] = "true"
      $0["log", "access_fields"] = "[\(fields.map { "\"\($0)\"" }.joined(separator: ", "))]"
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(
      try anna.fetch(
        site.origin + "/fields?secret=1", fields: [("User-Agent", "tests"), ("Referer", "http://x/y?secret=2")]
      ).status == 200)
    let line = try poll("its line") {
      String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n").first { $0.contains("\"/fields\"") }
    }
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(Set(object.keys) == Set(fields + ["time", "kind"]), "\(line)")
    let places = try fields.map { try #require(line.range(of: "\"\($0)\":")?.lowerBound) }
    #expect(places == places.sorted(), "\(line)")
    #expect(object["referer"] as? String == "http://x/y" && object["user_agent"] as? String == "tests")
    #expect(object["upstream_address"] as? String == "http://127.0.0.1:\(site.upstream.port)")
    #expect((object["user"] as? String)?.utf8.count == 16)
    let parts = try ["duration", "upstream", "gateway"].map { try #require(object[$0] as? Double) }
    #expect(abs(parts[0] - parts[1] - parts[2]) < 0.000_002, "\(line)")
  }

  @Test("Each field of the access log is told alone where only it is configured, with what is true of the request")
  func eachField() throws {
    let dead = try FreePort.take()
    let site = try Self.site {
      $0["log", "access"] = "true"
      $0.ending = """
        [[upstreams]]
        name = "dead"
        url = "http://127.0.0.1:\(dead)"
        [[route]]
        path = "/dead/"
        upstream = "dead"

        """
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    let authority = site.gateway.client.authority
    let told: [String: (Any?) -> Bool] = [
      "request": { ($0 as? String)?.isEmpty == false }, "method": { $0 as? String == "GET" },
      "path": { $0 as? String == "/alive/x" }, "version": { $0 as? String == "HTTP/1.1" },
      "status": { $0 as? Int == 200 }, "bytes_in": { $0 as? Int == 0 }, "bytes_out": { ($0 as? Int ?? 0) > 0 },
      "duration": { $0 is Double }, "upstream": { $0 is Double }, "gateway": { $0 is Double },
      "upstream_address": { $0 as? String == "http://127.0.0.1:\(site.upstream.port)" },
      "route": { $0 as? String == "signed-in" }, "user": { ($0 as? String)?.utf8.count == 16 },
      "peer": { $0 as? String == "127.0.0.1" }, "failure": { $0 as? String == "upstream_refused" },
      "host": { $0 as? String == authority }, "user_agent": { $0 as? String == "tests" },
      "referer": { $0 as? String == "http://x/y" },
    ]
    for (count, (field, isTrue)) in told.sorted(by: { $0.key < $1.key }).enumerated() {
      var configuration = site.gateway.configuration
      configuration["log", "access_fields"] = "[\"\(field)\"]"
      _ = try configuration.install(in: site.gateway.directory)
      site.gateway.process.signal(SIGHUP)
      try poll("the reload") {
        try site.gateway.admin.get("/metrics").text.contains(
          "cordon_config_reloads_total{result=\"ok\"} \(count + 1)\n")
          ? () : nil
      }
      let before = lines(site, "access").count
      _ = try anna.fetch(
        site.origin + (field == "failure" ? "/dead/x" : "/alive/x?secret=1"),
        fields: [("User-Agent", "tests"), ("Referer", "http://x/y?secret=2")])
      let line = try poll("its line") { lines(site, "access").dropFirst(before).first }
      #expect(Set(line.keys) == ["time", "kind", field], "\(field): \(line)")
      #expect(isTrue(line[field]), "\(field): \(line)")
    }
  }

  @Test("An upstream that does not respond is logged once, with its address")
  func applicationAway() throws {
    let port = try FreePort.take()
    let site = try Self.site {
      $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\""
      $0["listen", "workers"] = "1"
      $0.ending = GatewayConfiguration.everythingPublic
    }
    defer { site.stop() }
    func told() -> [[String: Any]] {
      lines(site, "event").filter { $0["message"] as? String == "upstream not responding" }
    }
    // A single request that fails says nothing yet.
    let line = try poll("the line about the application") { () throws -> [String: Any]? in
      let status = try site.gateway.client.get("/").status
      #expect(status == 502)
      return told().first
    }
    #expect((line["problem"] as? String)?.contains(":\(port) does not answer") == true, "\(line)")
    #expect(line["level"] as? String == "error")
    #expect(try site.gateway.client.get("/").status == 502)
    try poll("the same in health") {
      try site.gateway.admin.get("/healthz").text.contains("does not answer") ? () : nil
    }
    #expect(told().count == 1)
  }

  @Test("On a terminal lines are text for people; log.format decides otherwise", arguments: [false, true])
  func terminal(isJSON: Bool) throws {
    var configuration = try GatewayConfiguration()
    configuration["log", "access"] = "true"
    configuration["log", "format"] = isJSON ? "\"json\"" : "\"auto\""
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    var (terminal, other): (Int32, Int32) = (-1, -1)
    guard openpty(&terminal, &other, nil, nil, nil) == 0 else { throw HarnessError.system("openpty", errno: errno) }
    defer {
      close(terminal)
      close(other)
    }
    let name = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(other)")
    let command = try "exec '\(Machine.binary("cordon"))' run --config '\(file)' > '\(name)'"
    let gateway = try ServerProcess("/bin/sh", ["-c", command], directory: directory.path)
    defer { gateway.stop() }
    let admin = HTTPClient(port: configuration.adminPort)
    try gateway.waitUntilReady("GET /readyz answers 200") { try admin.get("/readyz").status == 200 }
    _ = try HTTPClient(port: configuration.port, host: GatewayConfiguration.host).get("/on-a-terminal")
    var seen: [UInt8] = []
    try poll("the line of the request") {
      var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&waiting, 1, 0) == 1 else { return nil as Void? }
      seen += [UInt8](unsafeUninitializedCapacity: 65_536) { bytes, count in
        count = max(0, read(terminal, bytes.baseAddress, bytes.count))
      }
      return String(decoding: seen, as: UTF8.self).contains("/on-a-terminal") && seen.last == 10 ? () : nil
    }
    let lines = String(decoding: seen, as: UTF8.self).split(whereSeparator: \.isNewline)
    #expect(lines.count > 1)
    for line in lines { #expect(line.hasPrefix("{\"time\":") == isJSON, "\(line)") }
    let access = try #require(lines.first { $0.contains("/on-a-terminal") })
    #expect(isJSON || access.contains("Z access request=") && access.contains(" path=/on-a-terminal "), "\(access)")
  }
}
