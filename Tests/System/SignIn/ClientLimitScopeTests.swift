import Foundation
import Testing

// What limits.clients.sign_ins counts, and for whom.
//
// - Requests for access and invitations count; what another site's page causes and starts nothing does not, and what it
//   starts is counted apart.
// - The client that a PROXY header names, over TLS and HTTP/2.

@SystemActor
@Suite("The scope of the limit of sign-ins")
struct ClientLimitScopeTests {
  /// Anna is a manager, Ben is refused by lists. The tests name a client of their own by `X-Forwarded-For`.
  private func site(_ rate: String) throws -> Site {
    try AccessSite.make(also: {
      $0["limits.clients", "sign_ins"] = "\"\(rate)\""
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1\"]"
      $0["apple", "native_client_ids"] = "[\"com.example.app\"]"
    })
  }

  private func client(_ number: Int) -> (String, String) { ("X-Forwarded-For", "192.0.2.\(number)") }

  @Test("One request for access too many is answered 429, and those of other sites do not count")
  func accessRequests() throws {
    let site = try site("2/h")
    defer { site.stop() }
    let ben = Visitor()
    try ben.signIn(site, as: "ben")
    let cookie = ("Cookie", try #require(try ben.cookieHeader(for: site.own("request-access"))))
    func ask(_ number: Int, _ fields: (String, String)...) throws -> HTTPResponse {
      try site.gateway.client.post("/.auth/request-access", form: [], fields: [client(number), cookie] + fields)
    }
    let own = ("Origin", site.origin)
    for _ in 0..<2 { #expect(try ask(1, own).status == 200) }
    let refused = try ask(1, own, ("Accept", "text/html"))
    #expect(refused.status == 429 && refused.fields["Retry-After"] != nil && refused.text.contains("Too many"))
    // A hostile page of Ben's browser.
    for _ in 0..<5 {
      #expect(try ask(2, ("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")).status == 403)
      #expect(try ask(2, own, ("Sec-Fetch-Site", "cross-site")).status == 403)
      #expect(try ask(2).status == 403)
    }
    for _ in 0..<2 { #expect(try ask(2, own).status == 200) }
    #expect(try ask(2, own).status == 429)
  }

  @Test("Opening and joining invitations count together; other sites can neither try codes nor use the limit up")
  func invitations() throws {
    let site = try site("4/h")
    defer { site.stop() }
    let path = try WebAddress(try site.invite(try site.signedIn())).target
    let wrong = "/.auth/invite/" + String(repeating: "A", count: 22)
    func get(_ number: Int, _ target: String, _ fields: (String, String)...) throws -> Int {
      try site.gateway.client.get(target, fields: [client(number)] + fields).status
    }
    func join(_ number: Int, _ fields: (String, String)...) throws -> Int {
      try site.gateway.client.post(wrong, form: [], fields: [client(number)] + fields).status
    }
    let (own, foreign) = (("Origin", site.origin), ("Sec-Fetch-Site", "cross-site"))
    #expect(try get(1, path) == 200 && get(1, wrong) == 404 && join(1, own) == 404 && get(1, wrong) == 404)
    #expect(try get(1, path) == 429 && join(1, own) == 429 && get(1, "/.auth/authorize") == 429)
    // Images, frames and forms of another site: nothing is looked up.
    for _ in 0..<6 {
      for target in [path, wrong] {
        #expect(try get(2, target, foreign, ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")) == 403)
        #expect(try get(2, target, foreign, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")) == 403)
      }
      #expect(try join(2, foreign, ("Origin", "http://evil.example")) == 403)
    }
    // Its navigations look up, and are counted for themselves.
    let navigation = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    for _ in 0..<4 { #expect(try get(2, path, foreign, navigation[0], navigation[1]) == 200) }
    #expect(try get(2, path, foreign, navigation[0], navigation[1]) == 429)
    #expect(try get(2, "/.auth/authorize", foreign, navigation[0], navigation[1]) == 429)
    for _ in 0..<4 { #expect(try get(2, path, ("Sec-Fetch-Site", "same-origin"), navigation[0]) == 200) }
    #expect(try get(2, path) == 429)
  }

  @Test("A hostile page cannot use up what its visitor may start, by whatever requests")
  func hostilePage() throws {
    let site = try site("2/h")
    defer { site.stop() }
    let foreign = ("Sec-Fetch-Site", "cross-site")
    for _ in 0..<5 {
      for fields in [
        [("Sec-Fetch-Mode", "no-cors")], [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
        [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
      ] { _ = try site.gateway.client.get("/.auth/authorize", fields: [client(1), foreign] + fields) }
      let native = try site.gateway.client.send(
        "POST", "/.auth/native",
        fields: [client(1), foreign, ("Origin", "http://evil.example"), ("Content-Type", "text/plain")],
        body: Array("{}".utf8))
      #expect(native.status == 403)
    }
    for expected in [302, 302, 429] {
      #expect(try site.gateway.client.get("/.auth/authorize", fields: [client(1)]).status == expected)
    }
  }

  @Test("Over TLS and HTTP/2 the limit is that of the client whom a PROXY header names")
  func proxyHeader() throws {
    let folder = try TLSFolder()
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "proxy_protocol_from"] = "[\"127.0.0.7\"]"
      $0["limits.clients", "sign_ins"] = "\"2/h\""
    }
    defer { gateway.stop() }
    try folder.run(
      """
      import h2.config, h2.connection, h2.events
      port = int(sys.argv[1])
      def statuses(client, count):
        raw = socket.create_connection(("127.0.0.1", port), timeout=50, source_address=("127.0.0.7", 0))
        raw.sendall(f"PROXY TCP4 {client} 127.0.0.1 50000 {port}\\r\\n".encode())
        s = context(alpn=["h2"]).wrap_socket(raw, server_hostname="localhost")
        assert s.selected_alpn_protocol() == "h2"
        connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        connection.initiate_connection()
        found = []
        for number in range(count):
          stream = connection.get_next_available_stream_id()
          fields = [(":method", "GET"), (":scheme", "https"), (":authority", f"localhost:{port}"),
            (":path", "/.auth/authorize"), ("x-forwarded-for", f"198.51.100.{number}")]
          connection.send_headers(stream, fields, end_stream=True)
          s.sendall(connection.data_to_send())
          while len(found) <= number:
            data = s.recv(65536)
            assert data
            for event in connection.receive_data(data):
              if isinstance(event, h2.events.ResponseReceived): found.append(dict(event.headers)[":status"])
            s.sendall(connection.data_to_send())
        s.close()
        return found
      assert statuses("203.0.113.1", 3) == ["302", "302", "429"]
      assert statuses("203.0.113.1", 1) == ["429"]
      assert statuses("203.0.113.2", 3) == ["302", "302", "429"]
      print("ok")
      """, ["\(gateway.configuration.port)"])
  }
}
