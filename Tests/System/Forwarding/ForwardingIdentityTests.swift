import Foundation
import Testing

// What the application hears about the user, and that nobody else can say it.
//
// - A signed-in request carries the configured identity headers, encoded; a public one without a session carries none.
// - Identity headers of the client are removed: in every spelling, on every route, as a trailer; naming them in
//   Connection does not remove ours.
// - What a stranger says about forwarding is removed; X-Forwarded-For, -Proto and -Host are the gateway's own.

@SystemActor
@Suite(
  "Identity towards the application", .serialized,
  .site(
    ending: """
      [[route]]
      path = "/public/"
      access = "public"
      """))
struct ForwardingIdentityTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  @Test("A signed-in request carries subject, e-mail and name, the name percent-encoded")
  func identityHeaders() throws {
    let anna = try site.signedIn(as: "anna")
    #expect(try anna.fetch("\(site.origin)/hours?week=3").status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/hours?week=3" }
    #expect(seen.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: "anna")])
    #expect(seen.fields[all: "X-Forwarded-Email"] == ["anna.bergstrom@example.com"])
    #expect(seen.fields[all: "X-Forwarded-Name"] == ["Anna Bergstr%C3%B6m"])
  }

  @Test("A name in another script arrives percent-encoded, and nothing else of it")
  func foreignName() throws {
    let eleni = try site.signedIn(as: "eleni")
    _ = try eleni.fetch("\(site.origin)/eleni")
    let seen = try site.upstream.waitForRequest { $0.target == "/eleni" }
    let name = try #require(seen.fields["X-Forwarded-Name"])
    #expect(name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
    #expect(name.removingPercentEncoding?.unicodeScalars.contains { $0.value > 0x7F } == true)
  }

  @Test(
    "A user without an e-mail, and one whose e-mail is not verified, bring no e-mail header",
    arguments: ["dana", "eve"])
  func noUnverifiedEmail(user: String) throws {
    let visitor = try site.signedIn(as: user)
    _ = try visitor.fetch("\(site.origin)/\(user)", fields: [("X-Forwarded-Email", "boss@example.com")])
    let seen = try site.upstream.waitForRequest { $0.target == "/\(user)" }
    #expect(seen.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: user)])
    #expect(!seen.fields.contains("X-Forwarded-Email"))
    #expect(!seen.headText.contains("boss@"))
  }

  @Test("A hidden e-mail arrives as Apple's relay address")
  func hiddenEmail() throws {
    let visitor = Visitor()
    try visitor.signIn(site, as: "ben", hideEmail: true)
    _ = try visitor.fetch("\(site.origin)/ben")
    let seen = try site.upstream.waitForRequest { $0.target == "/ben" }
    #expect(seen.fields["X-Forwarded-Email"]?.hasSuffix("@privaterelay.appleid.com") == true)
  }

  private nonisolated static let spellings = [
    "X-Forwarded-User", "x-forwarded-user", "X-FORWARDED-USER", "X_Forwarded_User", "x_forwarded_user",
    "X.Forwarded.User", "X-Forwarded_User", "X_Forwarded-User", "X-Forwarded.User", "X-Forwarded-Email",
    "X_Forwarded_Email", "X-Forwarded-Name", "x.forwarded.name", "X-Identity-Assertion", "X_Identity_Assertion",
  ]

  @Test("Identity fields of the client never arrive", arguments: spellings)
  func spoofedHeader(name: String) throws {
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    for (path, cookies) in [("/private", [cookie]), ("/public/x", [cookie]), ("/public/y", [])] {
      let lines = ["GET \(path) HTTP/1.1", "Host: \(site.gateway.client.authority)", "\(name): evil-mallory"]
      let connection = try site.gateway.connect()
      try connection.send((lines + cookies.map { "Cookie: \($0)" }).joined(separator: "\r\n") + "\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == 200, "\(path)")
      let seen = try site.upstream.waitForRequest { $0.target == path }
      #expect(!seen.headText.contains("mallory"), "\(path)")
      #expect(seen.fields.contains("X-Forwarded-User") == !cookies.isEmpty, "\(path)")
    }
  }

  @Test(
    "Header fields of a stranger about the client's address never arrive",
    arguments: [
      "Client-IP", "client_ip", "X-Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "X_Cluster_Client_IP",
      "X-Forwarded", "Forwarded-For", "X-Real-IP", "Forwarded",
    ])
  func strangersAddress(name: String) throws {
    let path = "/public/\(name)"
    #expect(try site.gateway.client.get(path, fields: [(name, "203.0.113.66")]).status == 200)
    #expect(!(try site.upstream.waitForRequest { $0.target == path }).headText.contains("203.0.113.66"))
  }

  @Test("The client cannot have our identity headers removed by naming them in Connection")
  func nominatedHeader() throws {
    let anna = try site.signedIn()
    let nominations = "close, X-Forwarded-User, x-forwarded-email, X-Request-Id, X-Forwarded-For, Host"
    _ = try anna.fetch(
      "\(site.origin)/nominated", fields: [("Connection", nominations), ("X-Forwarded-User", "evil-mallory")])
    let seen = try site.upstream.waitForRequest { $0.target == "/nominated" }
    #expect(seen.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: "anna")])
    #expect(seen.fields.contains("X-Forwarded-Email"))
    #expect(seen.fields.contains("X-Forwarded-For"))
    #expect(seen.fields.contains("Host"))
    #expect(!seen.headText.contains("mallory"))
  }

  @Test(
    "A field that identifies, frames, routes or authenticates never arrives as a trailer; other fields do",
    arguments: [
      "X-Forwarded-User", "x_forwarded_user", "X.Forwarded.User", "X-Identity-Assertion", "X-Forwarded-For", "Cookie",
      "Set-Cookie", "Content-Length", "Content_Length", "Transfer-Encoding", "transfer_encoding", "Host", "Connection",
      "Trailer", "Upgrade", "TE", "Authorization", "X-Original-URL", "Forwarded", "X-Request-Id", "Proxy",
      "Client-Cert",
    ])
  func trailer(name: String) throws {
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let connection = try site.gateway.connect()
    try connection.send(
      """
      POST /trailer HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: \(cookie)\r\n\
      Trailer: \(name)\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\(name): evil-mallory\r\nX-Fine: 1\r\n\r\n
      """)
    #expect(try HTTPResponse.read(from: connection).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/trailer" }
    #expect(seen.body == Array("hello".utf8))
    let text = String(decoding: seen.headBytes + seen.bodyBytes, as: UTF8.self)
    #expect(!text.contains("mallory") && text.contains("X-Fine: 1"))
  }

  @Test("Address fields of a stranger are replaced by what the gateway sees")
  func forwardedByStrangers() throws {
    let anna = try site.signedIn()
    let lies = [
      "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Server",
      "X-Forwarded-Prefix", "X-Forwarded-Uri", "X-Forwarded-Method", "X_Forwarded_For", "X-Real-IP", "X_Real_IP",
      "Forwarded", "X-Original-URL", "X_Original_URL", "X-Original-URI", "X.Original.URI", "X-Rewrite-URL",
      "x_rewrite.url", "Proxy", "proxy", "Remote-User", "REMOTE_USER", "X-Remote-User", "X_Remote_Group",
      "X-Remote-Groups", "X-WEBAUTH-USER", "X-Auth-Request-User", "X_Auth_Request_Groups", "X-Authenticated-User",
      "Client-IP", "True-Client-IP", "X-Forwarded", "Forwarded-For", "Remote-Groups", "SCRIPT_NAME", "X-Script-Name",
      "Path-Info", "Daphne-Root-Path", "OIDC_CLAIM_groups", "X-Pomerium-Claim-Email", "X-Vouch-User",
      "X-authentik-username", "X-Amzn-Oidc-Identity", "X-Ms-Client-Principal-Name", "Client-Cert", "Client-Cert-Chain",
      "SSL_CLIENT_CERT", "X-SSL-Client-Verify", "WL-Proxy-Client-Cert", "Proxy-Client-IP", "X-JWT-Assertion",
      "X-Host", "X_HTTP_Host_Override", "X-Original-Host", "X-Override-URL", "X-HTTP-DestinationURL",
    ]
    _ = try anna.fetch("\(site.origin)/lies", fields: lies.map { ($0, "evil-mallory") })
    let seen = try site.upstream.waitForRequest { $0.target == "/lies" }
    #expect(!seen.headText.contains("mallory"), "\(seen.headText)")
    #expect(seen.fields[all: "X-Forwarded-For"] == ["127.0.0.1"])
    #expect(seen.fields[all: "X-Forwarded-Proto"] == ["http"])
    #expect(seen.fields[all: "X-Forwarded-Host"] == [site.gateway.client.authority])
    #expect(seen.fields[all: "Host"] == [site.gateway.client.authority])
    #expect(seen.fields[all: "X-Request-Id"].count == 1)
  }

  @Test("A host that is not ours is answered 421, and nothing of it arrives")
  func foreignHost() throws {
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    for host in ["evil.example", "localhost", "localhost:1", "evil@\(site.gateway.client.authority)", "127.0.0.1"] {
      let connection = try site.gateway.connect()
      try connection.send("GET /foreign HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\n\r\n")
      let status = try HTTPResponse.read(from: connection).status
      #expect(status == 421 || status == 400, "\(host)")
    }
    #expect(!site.upstream.requests.contains { $0.target == "/foreign" })
  }
}
