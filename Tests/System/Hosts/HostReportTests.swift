import Foundation
import TemporaryDirectoryTesting
import Testing

// Hosts as operators see them.
//
// - /metrics and /status count requests by configured host; a host that is not configured makes no series.
// - A reload adds a host and removes one: without a restart, and the counts of the others go on.

@SystemActor
@Suite("Hosts in metrics and status", .serialized)
struct HostReportTests {
  /// The value of each series of the hosts' metric, by host.
  private func counts(_ site: Site) throws -> [String: Int] {
    let text = try site.gateway.admin.get("/metrics").text
    var counts: [String: Int] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("cordon_host_requests_total{") {
      let parts = line.split(separator: "\"")
      if parts.count == 3 { counts[String(parts[1])] = Int(parts[2].dropFirst(2)) }
    }
    return counts
  }

  private func reload(_ site: Site) throws {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["reload", "--config", site.gateway.file], directory: site.gateway.directory.path)
    #expect(result.exit == .code(0), "\(result.standardOutput)\(result.standardError)")
  }

  @Test("Requests are counted by configured host, and unknown hosts make no series")
  func counted() throws {
    let site = try Site(adjust: { try? $0.addHosts(["wiki", "tickets"]) })
    defer { site.stop() }
    let port = site.gateway.configuration.port
    for _ in 0..<3 { #expect(try site.client(of: "wiki").get("/.auth/session").status == 401) }
    #expect(try site.client(of: "evil").get("/").status == 421)
    #expect(try site.gateway.client.get("/.auth/session").status == 401)
    try poll("the requests to be counted") {
      let counts = try counts(site)
      return counts["wiki.localhost:\(port)"] == 3 && (counts["localhost:\(port)"] ?? 0) >= 2 ? () : nil
    }
    #expect(
      Set(try counts(site).keys) == ["localhost:\(port)", "wiki.localhost:\(port)", "tickets.localhost:\(port)"])
    let status =
      try JSONSerialization.jsonObject(
        with: Data(try site.gateway.admin.get("/status?format=json").body)) as? [String: Any]
    let hosts = status?["hosts"] as? [[String: Any]] ?? []
    #expect(
      hosts.map { $0["name"] as? String }
        == ["localhost", "wiki.localhost", "tickets.localhost"].map { "\($0):\(port)" })
    #expect(hosts.count == 3 && hosts[1]["requests"] as? Int == 3 && hosts[1]["upstream"] as? String == "default")
  }

  @Test("A reload adds a host and removes one, and the counts of the others go on")
  func reloaded() throws {
    let site = try Site(adjust: {
      $0["admin", "token_file"] = "\"admin.token\""
      try? $0.addHosts(["wiki"])
    })
    defer { site.stop() }
    let port = site.gateway.configuration.port
    #expect(try site.client(of: "wiki").get("/.auth/session").status == 401)
    #expect(try site.client(of: "notes").get("/.auth/session").status == 421)
    var next = site.gateway.configuration
    next.ending = ""
    try next.addHosts(["notes", "wiki"])
    _ = try next.install(in: site.gateway.directory)
    try reload(site)
    #expect(try site.client(of: "notes").get("/.auth/session").status == 401)
    #expect(try site.client(of: "wiki").get("/.auth/session").status == 401)
    try poll("both to be counted where they belong") {
      let counts = try counts(site)
      return counts["wiki.localhost:\(port)"] == 2 && counts["notes.localhost:\(port)"] == 1 ? () : nil
    }
    next.ending = ""
    try next.addHosts(["notes"])
    _ = try next.install(in: site.gateway.directory)
    try reload(site)
    #expect(try site.client(of: "wiki").get("/.auth/session").status == 421)
    #expect(try site.client(of: "notes").get("/.auth/session").status == 401)
  }
}
