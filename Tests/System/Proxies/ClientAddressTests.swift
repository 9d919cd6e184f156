import Foundation
import Testing

// The address of the client: the PROXY protocol, trusted proxies, and what passes of a request's marks.
//
// - A listed balancer announces the client, by version 1 or 2; without a header, or with a malformed one, it gets
//   nothing.
// - From others a PROXY header is a malformed request, and what a stranger says of addresses is dropped.
// - Behind trusted proxies the client is the rightmost address that is none of them.
// - Forwarded of a trusted proxy gains an element; traceparent passes; X-Request-Id is kept, or begun.
//
// The system has all of 127.0.0.0/8: a connection that comes from 127.0.0.7 is another peer's.

@SystemActor
@Suite("The address of the client")
struct ClientAddressTests {
  private static let balancer: UInt8 = 7
  private static let proxy: UInt8 = 8

  private static func withGateway(
    _ ending: String = "", _ body: (GatewayProcess, RawUpstream) throws -> Void
  ) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { configuration in
      configuration["listen", "proxy_protocol_from"] = "[\"127.0.0.7\"]"
      configuration["listen", "trusted_proxies"] = "[\"127.0.0.8\", \"10.0.0.0/8\", \"2001:db8:1::/48\"]"
      configuration["listen.timeouts", "handshake"] = "\"3s\""
      configuration["log", "access"] = "true"
      configuration.ending += ending
    }
    defer { gateway.stop() }
    try body(gateway, upstream)
  }

  private static func request(_ target: String, _ gateway: GatewayProcess, _ fields: [String] = []) -> String {
    (["GET \(target) HTTP/1.1", "Host: \(gateway.client.authority)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  // MARK: PROXY

  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]

  private static func block(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
    signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)] + rest
  }

  private static let four: [UInt8] = [203, 0, 113, 9, 198, 51, 100, 1, 0xDC, 4, 1, 0xBB]
  private static let six: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]

  /// The header from the balancer, and the client's address that the application gets.
  private static let announcements: [([UInt8], String)] = [
    (Array("PROXY TCP4 203.0.113.9 198.51.100.1 56324 443\r\n".utf8), "203.0.113.9"),
    (Array("PROXY TCP6 2001:db8::7 ::1 56324 443\r\n".utf8), "2001:db8::7"),
    (Array("PROXY TCP6 ::ffff:203.0.113.9 ::1 1 2\r\n".utf8), "203.0.113.9"),
    (Array("PROXY UNKNOWN\r\n".utf8), "127.0.0.7"), (block(0x21, 0x11, four), "203.0.113.9"),
    (block(0x21, 0x11, four + [2, 0, 3, 0x61, 0x2E, 0x62, 0xEE, 0, 0]), "203.0.113.9"),
    (block(0x21, 0x21, six + six + [0, 1, 0, 2]), "2001:db8::7"), (block(0x20, 0x00, []), "127.0.0.7"),
    (block(0x20, 0x11, four), "127.0.0.7"), (block(0x21, 0x00, [1, 2, 3]), "127.0.0.7"),
    (block(0x21, 0x31, [UInt8](repeating: 0x2F, count: 216)), "unix"),
  ]

  @Test("A listed balancer's header announces the client, whole, in pieces, or together with the request")
  func announced() throws {
    try Self.withGateway { gateway, upstream in
      for (index, (header, address)) in Self.announcements.enumerated() {
        for pieces in [[header], [Array(header[..<5]), Array(header[5...])], []] {
          let connection = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
          for piece in pieces { try connection.send(piece) }
          let target = "/announced-\(index)-\(pieces.count)"
          let lie = ["X-Forwarded-For: 9.9.9.9", "X-Forwarded-Proto: gopher"]
          try connection.send((pieces.isEmpty ? header : []) + Array(Self.request(target, gateway, lie).utf8))
          #expect(try HTTPResponse.read(from: connection).status == 200, "\(index)")
          let seen = try upstream.waitForRequest { $0.target == target }
          #expect(seen.fields[all: "X-Forwarded-For"] == [address], "\(index)")
          // The connection goes on, and its second request is the same client's.
          try connection.send(Self.request(target + "-again", gateway))
          #expect(try HTTPResponse.read(from: connection).status == 200)
          let again = try upstream.waitForRequest { $0.target == target + "-again" }
          #expect(again.fields[all: "X-Forwarded-For"] == [address], "\(index)")
        }
      }
      // The access log names the client.
      try gateway.waitForLog("203.0.113.9")
    }
  }

  @Test("Trust depends on the announced address: a proxy behind a balancer is trusted, a stranger is not")
  func trustBehindBalancer() throws {
    try Self.withGateway { gateway, upstream in
      for (peer, expected) in [("10.1.2.3", "192.0.2.50, 10.1.2.3"), ("203.0.113.9", "203.0.113.9")] {
        let connection = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
        try connection.send(
          "PROXY TCP4 \(peer) 198.51.100.1 1 2\r\n" + Self.request("/\(peer)", gateway, ["X-Forwarded-For: 192.0.2.50"])
        )
        #expect(try HTTPResponse.read(from: connection).status == 200)
        let seen = try upstream.waitForRequest { $0.target == "/\(peer)" }
        #expect(seen.fields[all: "X-Forwarded-For"] == [expected])
      }
    }
  }

  @Test("A client that the balancer does not know is in no network, although the balancer is, whatever it says itself")
  func unknownToBalancer() throws {
    let networks = #"["127.0.0.0/8", "10.0.0.0/8", "203.0.113.0/24"]"#
    let route = "[[route]]\npath = \"/inside/\"\naccess = \"public\"\nnetworks = \(networks)\n"
    try Self.withGateway(route) { gateway, upstream in
      let headers: [([UInt8], Int)] = [
        (Array("PROXY UNKNOWN\r\n".utf8), 403), (Array("PROXY UNKNOWN 10.1.2.3 10.0.0.1 1 2\r\n".utf8), 403),
        (Self.block(0x21, 0x00, []), 403), (Self.block(0x20, 0x00, []), 200),
        (Array("PROXY TCP4 203.0.113.9 10.0.0.1 1 2\r\n".utf8), 200),
      ]
      for (index, (header, status)) in headers.enumerated() {
        for lie in [[], ["X-Forwarded-For: 10.1.2.3"]] where lie.isEmpty || status == 403 {
          let connection = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
          try connection.send(header + Array(Self.request("/inside/\(index)", gateway, lie).utf8))
          #expect(try HTTPResponse.read(from: connection).status == status, "\(index)")
        }
      }
      try gateway.waitForLog("denied request of a client whom the load balancer does not know")
      #expect(upstream.requests.allSatisfy { ["/honest", "/inside/3", "/inside/4"].contains($0.target) })
    }
  }

  @Test("A listed balancer without a header, or with a malformed one, is closed on without a word")
  func malformedHeaders() throws {
    try Self.withGateway { gateway, upstream in
      let request = Array(Self.request("/smuggled", gateway).utf8)
      let malformed: [[UInt8]] = [
        [], Array("PROXY TCP4 203.0.113.9 198.51.100.1 56324 443\n".utf8), Array("PROXY TCP4 a b c d\r\n".utf8),
        Array("PROXY TCP4 203.0.113.256 198.51.100.1 1 2\r\n".utf8), Array("proxy UNKNOWN\r\n".utf8),
        Array("PROXY UNKNOWN \(String(repeating: "x", count: 200))\r\n".utf8), Self.block(0x11, 0x11, Self.four),
        Self.block(0x22, 0x11, Self.four), Self.block(0x21, 0x51, Self.four),
        Self.block(0x21, 0x11, Array(Self.four.dropLast())), [0x16, 3, 1, 2, 0],
      ]
      for header in malformed {
        try gateway.surviving {
          let connection = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
          try? connection.send(header + request)
          #expect(try connection.readToEnd().isEmpty, "\(String(decoding: header, as: UTF8.self))")
        }
      }
      // Two headers: the second is not a request.
      let twice = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
      let line = "PROXY TCP4 203.0.113.9 198.51.100.1 1 2\r\n"
      try twice.send(line + line + Self.request("/smuggled", gateway))
      #expect(try HTTPResponse.read(from: twice).status == 400)
      // One that never ends, a byte at a time or not at all.
      let silent = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
      let begun = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
      try begun.send("PROXY TCP4 203.0")
      #expect(try silent.readToEnd().isEmpty)
      #expect(try begun.readToEnd().isEmpty)
      #expect(upstream.requests.allSatisfy { $0.target == "/honest" })
      // Each is counted, and the log has one in a minute, of each event loop.
      try gateway.waitForLogLine("closing connection without a valid PROXY header", #""peer":"127.0.0.7""#, "remedy")
      #expect(try Self.handshakeFailures(gateway) == Double(malformed.count + 2))
    }
  }

  @Test("A connection on which a listed balancer sends nothing and that it closes is no failure")
  func healthCheck() throws {
    try Self.withGateway { gateway, _ in
      let probe = try TCPConnection(port: gateway.configuration.port, from: Self.balancer)
      probe.endSending()
      #expect(try probe.readToEnd().isEmpty)
      #expect(try Self.handshakeFailures(gateway) == 0)
    }
  }

  private static func handshakeFailures(_ gateway: GatewayProcess) throws -> Double? {
    try Metrics(gateway).value("cordon_client_handshake_failures_total{reason=\"proxy_header\"}")
  }

  @Test("From a peer that is not listed a PROXY header is a malformed request")
  func unlisted() throws {
    try Self.withGateway { gateway, upstream in
      for peer in [1, Self.proxy, 9] {
        for header in [Array("PROXY TCP4 203.0.113.9 198.51.100.1 1 2\r\n".utf8), Self.block(0x21, 0x11, Self.four)] {
          try gateway.surviving {
            let connection = try TCPConnection(port: gateway.configuration.port, from: peer)
            try? connection.send(header + Array(Self.request("/smuggled", gateway).utf8))
            #expect(try HTTPResponse.read(from: connection).status == 400)
            try connection.waitForClose()
          }
        }
      }
      #expect(upstream.requests.allSatisfy { $0.target == "/honest" })
    }
  }

  // MARK: Trusted proxies

  /// Sends a request from a peer, and answers what the application saw.
  private static func seen(
    _ gateway: GatewayProcess, _ upstream: RawUpstream, from peer: UInt8, _ fields: [String]
  ) throws -> RawUpstream.Request {
    upstream.forget()
    let connection = try TCPConnection(port: gateway.configuration.port, from: peer)
    try connection.send(request("/seen", gateway, fields))
    let response = try HTTPResponse.read(from: connection)
    guard response.status == 200 else { throw HarnessError.malformed("status \(response.status) for \(fields)") }
    return try upstream.waitForRequest { $0.target == "/seen" }
  }

  @Test("Behind trusted proxies the log names the rightmost address that is none of them")
  func clientAddress() throws {
    try Self.withGateway { gateway, upstream in
      let chains: [(String, String)] = [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.2, 10.0.0.1", "192.0.2.2"), ("1.1.1.1, 192.0.2.3, 10.0.0.1", "192.0.2.3"),
        ("10.0.0.9, 10.0.0.4", "10.0.0.9"), ("192.0.2.5:4711, 2001:db8:1::1", "192.0.2.5"),
        ("1.1.1.1, [2001:db8:2::6]:443, 10.0.0.1", "2001:db8:2::6"), ("1.1.1.1, 2001:db8:2::7", "2001:db8:2::7"),
        ("192.0.2.8\r\nX-Forwarded-For: 192.0.2.9, 10.1.1.1", "192.0.2.9"), ("evil, 10.0.0.10", "10.0.0.10"),
        ("192.0.2.11, unknown", "127.0.0.8"), ("192.0.2.012", "127.0.0.8"), ("", "127.0.0.8"),
        ("192.0.2.13,", "127.0.0.8"), ("192.0.2.14\r\nX-Forwarded-For:", "127.0.0.8"),
        ("192.0.2.15, , 10.0.0.16", "10.0.0.16"), (", 192.0.2.17", "192.0.2.17"),
      ]
      for (index, (chain, client)) in chains.enumerated() {
        let connection = try TCPConnection(port: gateway.configuration.port, from: Self.proxy)
        try connection.send(Self.request("/chain-\(index)-", gateway, ["X-Forwarded-For: \(chain)"]))
        #expect(try HTTPResponse.read(from: connection).status == 200)
        let line = try gateway.process.waitForLine(containing: "/chain-\(index)-")
        #expect(line.contains("\"\(client)\"") || line.contains("=\(client) "), "\(chain): \(line)")
        // The application hears the whole chain, the proxy behind it.
        let seen = try upstream.waitForRequest { $0.target == "/chain-\(index)-" }
        #expect(seen.fields[all: "X-Forwarded-For"].joined().hasSuffix("127.0.0.8"))
      }
    }
  }

  @Test("A trusted proxy's Forwarded gains an element for that proxy; a stranger's is dropped")
  func forwarded() throws {
    try Self.withGateway { gateway, upstream in
      let own = "for=127.0.0.8;host=\"\(gateway.client.authority)\";proto=http"
      let cases: [([String], String)] = [
        (["Forwarded: for=192.0.2.1"], "for=192.0.2.1, \(own)"),
        (
          ["Forwarded: for=192.0.2.1;by=_a", "Forwarded: for=\"[2001:db8::1]\""],
          "for=192.0.2.1;by=_a, for=\"[2001:db8::1]\", \(own)"
        ),
        (["Forwarded: for=\"a\\\"b\""], "for=\"a\\\"b\", \(own)"),
        // Within an open quotation ours would be theirs.
        (["Forwarded: for=\"open"], own), (["Forwarded: for=\"open\\\""], own),
      ]
      for (fields, expected) in cases {
        let seen = try Self.seen(gateway, upstream, from: Self.proxy, fields)
        #expect(seen.fields[all: "Forwarded"] == [expected], "\(fields)")
      }
      let stranger = try Self.seen(gateway, upstream, from: 1, ["Forwarded: for=9.9.9.9"])
      #expect(!stranger.fields.contains("Forwarded"))
      let silent = try Self.seen(gateway, upstream, from: Self.proxy, [])
      #expect(!silent.fields.contains("Forwarded"))
    }
  }

  @Test("A trusted proxy is believed about addresses, never about who the user is or which path is meant")
  func trustEnds() throws {
    try Self.withGateway { gateway, upstream in
      let lies = [
        "X-Original-URL", "X_Original_URL", "X-Rewrite-URL", "x.rewrite.url", "X-Override-URL", "X_HTTP_DestinationURL",
        "X-Forwarded-User", "X_Forwarded_User",
        "X-Forwarded-Email", "X-Identity-Assertion", "Proxy", "Script-Name", "SCRIPT_NAME", "X-Script-Name",
        "Path-Info", "Daphne-Root-Path", "Remote-User", "X-Remote-User", "X-WEBAUTH-USER", "X-Auth-Request-Groups",
        "X-Authenticated-User", "X-Forwarded-Groups", "X-Forwarded-Preferred-Username", "OIDC_CLAIM_groups",
        "X-Ms-Client-Principal-Name",
      ]
      let seen = try Self.seen(
        gateway, upstream, from: Self.proxy, lies.map { "\($0): mallory" } + ["X-Forwarded-Port: 443"])
      #expect(!seen.headText.contains("mallory"), "\(seen.headText)")
      #expect(seen.fields["X-Forwarded-Port"] == "443")
    }
  }

  @Test("traceparent passes, from whomever it comes")
  func traceParent() throws {
    try Self.withGateway { gateway, upstream in
      let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
      for peer in [1, Self.proxy] {
        let seen = try Self.seen(gateway, upstream, from: peer, ["traceparent: \(value)", "tracestate: a=b"])
        #expect(seen.fields[all: "traceparent"] == [value])
        #expect(seen.fields[all: "tracestate"] == ["a=b"])
      }
    }
  }

  @Test("X-Request-Id of a trusted proxy is kept where it is one; otherwise a new one is begun")
  func requestIdentifier() throws {
    try Self.withGateway { gateway, upstream in
      let identifier = { (fields: [String], peer: UInt8) throws -> [String] in
        try Self.seen(gateway, upstream, from: peer, fields).fields[all: "X-Request-Id"]
      }
      let long = String(repeating: "a", count: 64)
      for kept in ["abc-123", "a", long, "0af7651916cd43dd8448eb211c80319c", "a.b_c~d"] {
        let seen = try identifier(["X-Request-Id: \(kept)"], Self.proxy)
        #expect(seen == [kept])
      }
      for refused in [
        "", long + "a", "a b", "a,b", "a\"b", "a;b", "caf\u{E9}", "<b>", "a/b", "a\r\nX-Request-Id: b",
      ] {
        let begun = try identifier(["X-Request-Id: \(refused)"], Self.proxy)
        #expect(begun.count == 1 && begun[0].utf8.count == 32, "\(refused)")
      }
      let stranger = try identifier(["X-Request-Id: abc-123"], 1)
      #expect(stranger.count == 1 && stranger[0].utf8.count == 32)
      // Our own answers carry it, too.
      let connection = try TCPConnection(port: gateway.configuration.port, from: Self.proxy)
      try connection.send(Self.request("/.auth/nothing", gateway, ["X-Request-Id: kept-here"]))
      #expect(try HTTPResponse.read(from: connection).fields["X-Request-Id"] == "kept-here")
      #expect(!String(decoding: gateway.log, as: UTF8.self).contains("caf\u{E9}"))
    }
  }
}
