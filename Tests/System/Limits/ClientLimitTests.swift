import Foundation
import TemporaryDirectoryTesting
import Testing

// Limits of one client address.
//
// - Beyond the rate a browser gets a page in its language and a program JSON, with Retry-After; who is signed in goes
//   on, and so do callbacks. Behind a trusted proxy each client has a rate of its own, the proxy itself none.
// - A connection too many is closed, counted and logged once; others are served on. A reload changes the limit.

@SystemActor
@Suite("Limits of one client")
struct ClientLimitTests {
  @Test("One sign-in too many is answered 429, for the client that trusted proxies name")
  func signIns() throws {
    let site = try Site(adjust: {
      $0["limits.clients", "sign_ins"] = "\"2/h\""
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1\"]"
      $0["apple", "native_client_ids"] = "[\"com.example.app\"]"
    })
    defer { site.stop() }
    #expect(try Metrics(site.gateway).value("cordon_client_limit_refusals_total{kind=\"sign_in\"}") == 0)
    func start(_ client: String?, _ fields: [(String, String)] = []) throws -> HTTPResponse {
      try site.gateway.client.get(
        "/.auth/authorize", fields: (client.map { [("X-Forwarded-For", $0)] } ?? []) + fields)
    }
    let page = [("Accept", "text/html"), ("Accept-Language", "de")]
    for _ in 0..<2 { #expect(try start("192.0.2.1").status == 302) }
    let refused = try start("192.0.2.1", page)
    #expect(refused.status == 429)
    #expect(refused.text.contains("Zu viele"), "\(refused.text)")
    #expect(try #require(Int(refused.fields["Retry-After"] ?? "")) > 60)
    #expect(try start("192.0.2.1").json()["error"] as? String == "too_many_requests")
    let native = try site.gateway.client.send(
      "POST", "/.auth/native", fields: [("X-Forwarded-For", "192.0.2.1"), ("Content-Type", "application/json")],
      body: Array("{}".utf8))
    #expect(native.status == 429 && native.fields["Retry-After"] != nil)
    #expect(try Metrics(site.gateway).value("cordon_client_limit_refusals_total{kind=\"sign_in\"}") == 2)
    #expect(try Metrics(site.gateway).value("cordon_client_limit_refusals_total{kind=\"native\"}") == 1)
    // A script, a frame or a prefetch starts nothing, and is not counted.
    for _ in 0..<3 { #expect(try start("192.0.2.2", [("Sec-Fetch-Mode", "no-cors")]).status == 401) }
    for _ in 0..<2 { #expect(try start("192.0.2.2").status == 302) }
    // The proxy itself.
    for _ in 0..<4 { #expect(try start(nil).status == 302) }
    _ = try site.signedIn()
    // Further refusals within the minute are not logged.
    let requestID = try #require(refused.fields["X-Request-Id"])
    try site.gateway.waitForLogLine(
      "too many sign-ins from one address", #""limit":"sign_in""#, #""request":"\#(requestID)""#)

    var off = site.gateway.configuration
    off["limits.clients", "sign_ins"] = "\"off\""
    _ = try off.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try poll("the limit to be gone") { try start("192.0.2.1").status == 302 ? () : nil }
  }

  @Test("A client's connection beyond its limit is closed at once, and others are served on")
  func connections() throws {
    let site = try Site(adjust: { $0["limits.clients", "connections"] = "3" })
    defer { site.stop() }
    #expect(try Metrics(site.gateway).value("cordon_client_connections_refused_total") == 0)
    let first = try (0..<3).map { _ in try site.gateway.connect() }
    for connection in first {
      try connection.send("GET /.auth/session HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == 401)
    }
    for _ in 0..<2 {
      let further = try site.gateway.connect()
      #expect(try further.readToEnd().isEmpty)
    }
    #expect(try Metrics(site.gateway).value("cordon_client_connections_refused_total") == 2)
    try first[0].send("GET /.auth/session HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: first[0]).status == 401)
    first[1].close()
    try poll("room for another connection") {
      let connection = try site.gateway.connect()
      try? connection.send("GET /.auth/session HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
      return (try? HTTPResponse.read(from: connection).status) == 401 ? () : nil
    }
    try site.gateway.waitForLog("too many connections from one address", count: 1)
  }
}
