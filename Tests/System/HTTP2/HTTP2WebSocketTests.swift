import Testing

// Extended CONNECT (RFC 8441).
//
// - A WebSocket passes both ways, and only from our own origin; an application that does not switch is not a tunnel.
// - Many on one connection leave room for requests.

@SystemActor
@Suite("WebSockets over HTTP/2", .serialized, .http2Site)
struct HTTP2WebSocketTests {
  private let site: Site
  private var client: HTTP2Client { HTTP2Client(site.gateway) }

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  @Test("A WebSocket passes both ways, with the identity of its user and a key of ours")
  func webSocket() throws {
    let anna = try site.signedIn()
    let text = String(repeating: "hello", count: 20_000)
    let answer: HTTP2Client.Answer = try client.run(
      "websocket", "/socket", text, "origin:\(site.origin)", "cookie:\(try site.cookie(of: anna))",
      "sec-websocket-version:13")
    #expect(answer.status == "200")
    #expect(answer.body == text)
    #expect(!answer.fields.contains { $0[0] == "sec-websocket-accept" || $0[0] == "upgrade" })
    let seen = try site.upstream.waitForRequest { $0.target == "/socket" }
    #expect(seen.fields["Upgrade"] == "websocket")
    #expect(seen.fields[all: "Sec-WebSocket-Key"].count == 1)
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
  }

  @Test("A WebSocket with as many fields as a request may have is one")
  func webSocketWithManyFields() throws {
    let anna = try site.signedIn()
    let fields = (0..<90).map { "x-\($0):y" }
    let answer: HTTP2Client.Answer = try client.run(
      ["websocket", "/socket", "hello", "origin:\(site.origin)", "cookie:\(try site.cookie(of: anna))"] + fields)
    #expect(answer.status == "200" && answer.body == "hello")
  }

  @Test("END_STREAM on a client's Close frame ends one direction: the application's Close frame still comes")
  func halfClosedWebSocket() throws {
    let anna = try site.signedIn()
    let answer: HTTP2Client.Answer = try client.run(
      "half_close", "/socket", "origin:\(site.origin)", "cookie:\(try site.cookie(of: anna))")
    #expect(answer.body.unicodeScalars.map { UInt8($0.value) } == [0x88, 0x82, 0, 0, 0, 0, 0x10, 0xE1])
    #expect(answer.done && answer.reset == nil)
  }

  @Test("A hundred WebSockets on one connection leave room for requests, and may all be given up at once")
  func manyWebSockets() throws {
    struct Crowd: Decodable {
      var answer: HTTP2Client.Answer?
      var open: Int
      var again: HTTP2Client.Answer
    }
    let anna = try site.signedIn()
    let crowd: Crowd = try client.run(
      "crowd", "/socket", "100", "/hours", "origin:\(site.origin)", "cookie:\(try site.cookie(of: anna))")
    #expect(crowd.answer?.status == "200" && crowd.open == 100 && crowd.again.status == "200")
  }

  @Test("A WebSocket of another origin is refused unheard; one that is not taken up, or whose key was not read, is 502")
  func foreignWebSocket() throws {
    let anna = try site.signedIn()
    let cookie = "cookie:\(try site.cookie(of: anna))"
    let foreign: HTTP2Client.Answer = try client.run("websocket", "/socket", "x", "origin:http://evil.example", cookie)
    #expect(foreign.status == "403")
    let none: HTTP2Client.Answer = try client.run("websocket", "/socket", "x", cookie)
    #expect(none.status == "403")
    #expect(!site.upstream.requests.contains { $0.target == "/socket" })
    for path in ["/hours", "/socket?forged"] {
      let refused: HTTP2Client.Answer = try client.run("websocket", path, "x", "origin:\(site.origin)", cookie)
      #expect(refused.status == "502", "\(path)")
    }
  }
}
