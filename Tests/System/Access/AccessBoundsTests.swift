import Foundation
import PostgreSQLServerTesting
import Testing

// Access under many users at once.
//
// - Twenty guests redeem an invitation for five at three gateways: five get in.
// - At most 10,000 requests for access wait; the people page goes through all accounts.

@SystemActor
@Suite("Access with many users")
struct AccessBoundsTests {
  @Test("Of twenty guests who redeem an invitation for five at three gateways at once exactly five get in")
  func invitation() throws {
    let cluster = try Cluster(3, adjust: AccessSite.adjust)
    defer { cluster.stop() }
    let site = cluster.site
    let guests = try (0..<20).map { number in
      try AccessSite.addUser("guest\(number)", to: site)
      return try site.signedIn(as: "guest\(number)")
    }
    let link = try site.invite(try site.signedIn(), uses: 5)
    let path = try WebAddress(link).path
    // All are connected before the first one joins.
    let connections = try guests.indices.map { try TCPConnection(port: cluster.gateways[$0 % 3].configuration.port) }
    defer { for connection in connections { connection.close() } }
    for (guest, connection) in zip(guests, connections) {
      let cookie = try #require(try guest.cookieHeader(for: link))
      let lines = [
        "POST \(path) HTTP/1.1", "Host: \(cluster.authority)", "Origin: \(site.origin)", "Cookie: \(cookie)",
        "Accept: text/html", "Content-Length: 0", "Connection: close",
      ]
      try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }
    let statuses = try connections.map { try HTTPResponse.read(from: $0, method: "POST").status }
    #expect(statuses.count { $0 == 200 } == 5 && statuses.count { $0 == 404 } == 15, "\(statuses)")
    // Signed in once more, because the first sign-in left no refresh token.
    for (number, status) in statuses.enumerated() {
      let guest = guests[number]
      cluster.lead(guest, to: (number + 1) % 3)
      try poll("guest \(number), who got \(status), at another gateway") {
        let answer = try guest.fetch(site.origin + "/").status
        return (answer != 403) == (status == 200) ? () : nil
      }
    }
    let uses = try cluster.server.query("SELECT used FROM cordon.invitations", at: cluster.storeURL)
    #expect(uses == "5")
  }

  @Test("At most 10,000 requests for access wait, and the people page finds the last of so many accounts")
  func requests() throws {
    let cluster = try Cluster(1, adjust: AccessSite.adjust)
    defer { cluster.stop() }
    let site = cluster.site
    let (ben, carl) = (Visitor(), Visitor())
    try AccessSite.addUser("carl", to: site)
    try ben.signIn(site, as: "ben")
    try carl.signIn(site, as: "carl")
    // Copies of Ben's account, each with a request that waits.
    let subject = try site.apple.subject(of: "ben")
    _ = try cluster.server.query(
      """
      CREATE TEMPORARY TABLE askers AS SELECT accounts.*, number FROM cordon.accounts, generate_series(1, 9999) number \
      WHERE subject = '\(subject)';
      UPDATE askers SET subject = 'asker.' || lpad(number::text, 5, '0');
      ALTER TABLE askers DROP COLUMN number;
      INSERT INTO cordon.accounts SELECT * FROM askers;
      INSERT INTO cordon.access_requests (code, subject, asked)
        SELECT '0000-' || lpad(row_number() OVER (ORDER BY subject)::text, 4, '0'), subject, latest_authorization
        FROM askers
      """, at: cluster.storeURL)
    let fields = [("Origin", site.origin), ("Accept", "application/json")]
    func ask(_ visitor: Visitor) throws -> HTTPResponse {
      try visitor.fetch(site.own("request-access"), method: "POST", fields: fields)
    }
    #expect(try ask(ben).status == 200)
    let refused = try ask(carl)
    #expect(refused.status == 503)
    #expect(try refused.json()["error"] as? String == "access_requests_full")
    #expect(try ask(ben).status == 200, "who asks again takes no other place")
    // When one of them is rejected, there is room again.
    let people = Visitor()
    var page = try people.signIn(site, as: "anna", returnTo: "/.auth/people")
    page = try people.submit(try page.form("reject"))
    #expect(page.status == 200)
    #expect(try ask(carl).status == 200)
    // A search looks at so many accounts for each page, and goes on.
    page = try people.open(site.own("people?q=asker.09999"))
    for _ in 0..<10 where !page.text.contains("person=asker.09999") {
      let next = try #require(HTMLTag.all(in: page.text).first { $0["rel"] == "next" }?["href"], "\(page.text)")
      page = try people.follow(next)
    }
    #expect(page.text.contains("person=asker.09999"))
  }
}
