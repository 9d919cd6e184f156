import Foundation
import Testing

// Clients that are odd and honest: what they send is taken, and never gets a laxer rule for it.
//
// - Raw bytes from 0x80 in paths and queries; a Java container's session parameter; a hundred cookies as crumbs.
// - A request over HTTP/2 whose end came with it reaches the application with a length, or without a body.
// - A health check in HTTP/1.0 without a host.
// - Callers of gRPC read our errors as grpc-status.
// - Response heads of 64 KiB reach HTTP/2 clients.

@SystemActor
@Suite("Odd and honest clients")
struct OddClientTests {
  private static let routes = """
    [[route]]
    path = "/public/"
    access = "public"
    [[route]]
    path = "/api"
    access = "public"
    [[route]]
    path = "/public/inner"
    access = "deny"

    """

  private func withGateway(
    upstream handler: @escaping RawUpstream.RequestHandler = RawUpstream.greet,
    _ adjust: (inout GatewayConfiguration) -> Void = { _ in }, _ body: (GatewayProcess, RawUpstream) throws -> Void
  ) throws {
    let upstream = try RawUpstream(handler)
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0.ending = Self.routes
      $0.acceptHTTP2()
      adjust(&$0)
    }
    defer { gateway.stop() }
    try body(gateway, upstream)
  }

  private func python(_ gateway: GatewayProcess, _ script: String) throws {
    let prelude = """
      import sys
      sys.path.insert(0, "\(Machine.packageRoot.appending(path: "Tests/System/HTTP2").path)")
      from peer import *
      peer = Peer(\(gateway.configuration.port))

      """
    let run = try ServerProcess.run("/usr/bin/python3", ["-c", prelude + script])
    #expect(run.exit == .code(0), "\(run.standardError)")
  }

  /// The status of what answers these bytes as a head.
  private func status(_ gateway: GatewayProcess, _ head: [UInt8]) throws -> Int {
    let client = try gateway.connect()
    try client.send(head + Array("\r\n\r\n".utf8))
    return try HTTPResponse.read(from: client).status
  }

  /// The status of the answer to these bytes as a target.
  private func status(_ gateway: GatewayProcess, target: [UInt8]) throws -> Int {
    try status(
      gateway, Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: \(gateway.client.authority)".utf8))
  }

  @Test("Raw bytes from 0x80 pass in the query, and in a path where everybody signed in may go, as they came")
  func rawBytes() throws {
    try withGateway { gateway, upstream throws in
      let query = Array("/public/a?q=".utf8) + [0xE9, 0xFF, 0x80]
      #expect(try status(gateway, target: query) == 200)
      let seen = try upstream.waitForRequest()
      #expect(seen.headBytes.starts(with: Array("GET ".utf8) + query + [0x20]))
      // Not a public path: more than one reading.
      #expect(try status(gateway, target: Array("/public/caf".utf8) + [0xC3, 0xA9]) != 200)
      #expect(try status(gateway, target: Array("/public/".utf8) + [0xC0, 0xAE]) != 200)
      #expect(upstream.requests.count == 1)
      upstream.forget()
      try python(
        gateway,
        """
        peer.send(peer.headers(1, [(":method", "GET"), (":scheme", "http"), (":path", b"/public/a?q=\\xe9\\xff"),
                                   (":authority", peer.authority)]))
        peer.answered(1)
        """)
      let over2 = try upstream.waitForRequest()
      #expect(over2.headBytes.starts(with: Array("GET /public/a?q=".utf8) + [0xE9, 0xFF, 0x20]))
    }
  }

  @Test("A session parameter in its exact form leaves a public page public, and opens nothing else")
  func sessionParameter() throws {
    try withGateway { gateway, upstream throws in
      for path in ["/public/style.css;jsessionid=1A2b.node-1_x!9", "/public/;jsessionid=0"] {
        #expect(try gateway.client.get(path).status == 200, "\(path)")
        #expect(upstream.requests.last?.target == path)
      }
      upstream.forget()
      for path in [
        "/public/a;jsessionid=", "/public/a;JSESSIONID=1", "/public/a;jsessionid=1/b", "/public/a;x;jsessionid=1",
        "/public/a;jsessionid=1;x", "/public/a;jsessionid=%31", "/public//a;jsessionid=1", "/api;jsessionid=1",
        "/public/inner;jsessionid=1", "/public/inner/a;jsessionid=1", "/public/..;jsessionid=1",
        "/private;jsessionid=1",
      ] {
        #expect([302, 400, 401, 403, 404].contains(try gateway.client.get(path).status), "\(path)")
      }
      #expect(upstream.requests.isEmpty)
    }
  }

  @Test("A hundred and twenty cookies as crumbs are one field")
  func crumbs() throws {
    try withGateway { gateway, upstream throws in
      let crumbs = (0..<120).map { "cookie:c\($0)=v" }
      #expect(try HTTP2Client(gateway).run(["get", "/public/a"] + crumbs, as: HTTP2Client.Answer.self).status == "200")
      let cookies = try upstream.waitForRequest().fields[all: "Cookie"]
      #expect(cookies == [(0..<120).map { "c\($0)=v" }.joined(separator: "; ")])
      let fields = (0..<120).map { "x-\($0):v" }
      #expect(try HTTP2Client(gateway).run(["get", "/public/a"] + fields, as: HTTP2Client.Answer.self).status == "431")
    }
  }

  @Test("A request over HTTP/2 that is too large is answered with a page, as over HTTP/1.1, and with JSON for programs")
  func tooLarge() throws {
    try withGateway { gateway, upstream throws in
      let cases: [(path: String, fields: [String], status: String)] = [
        ("/public/a", (0..<10).map { "cookie:c\($0)=" + String(repeating: "v", count: 4_000) }, "431"),
        ("/public/" + String(repeating: "x", count: 9_000), [], "414"),
      ]
      let client = HTTP2Client(gateway)
      for (path, fields, status) in cases {
        for (accept, type) in [("text/html", "text/html"), ("application/json", "application/json")] {
          // Browsers send cookies last.
          let preferences = ["accept:\(accept)", "accept-language:de"]
          let answer = try client.run(["get", path] + preferences + fields, as: HTTP2Client.Answer.self)
          #expect(answer.status == status)
          let given = answer.fields.first { $0[0] == "content-type" }?[1]
          #expect(given?.hasPrefix(type) == true, "\(status) for \(accept)")
          if accept == "text/html" { #expect(answer.body.contains("<html lang=\"de\""), "\(status)") }
        }
      }
      #expect(upstream.requests.isEmpty)
    }
  }

  @Test("A request over HTTP/2 whose end came with it has a length, or no body, and is not chunked")
  func wholeBodies() throws {
    try withGateway { gateway, upstream throws in
      let cases: [(method: String, frames: String, length: String?, body: String)] = [
        ("GET", "peer.headers(1, peer.fields('GET', '/public/a'))", nil, ""),
        ("GET", "peer.headers(1, peer.fields('GET', '/public/a'), end=False), raw(DATA, END_STREAM, 1)", nil, ""),
        ("POST", "peer.post(1, '/public/a'), raw(DATA, END_STREAM, 1)", "0", ""),
        ("POST", "peer.post(1, '/public/a'), raw(DATA, END_STREAM, 1, b'hello')", "5", "hello"),
        (
          "PUT",
          "peer.headers(1, peer.fields('PUT', '/public/a'), end=False), raw(DATA, 0, 1, b'hel'), "
            + "raw(DATA, END_STREAM, 1, b'lo')",
          "5", "hello"
        ),
      ]
      for (method, frames, length, body) in cases {
        upstream.forget()
        try python(gateway, "peer.send(\(frames))\npeer.answered(1)")
        let seen = try upstream.waitForRequest()
        #expect(seen.method == method && String(decoding: seen.body, as: UTF8.self) == body, "\(frames)")
        #expect(!seen.fields.contains("Transfer-Encoding"), "\(frames)")
        #expect(seen.fields[all: "Content-Length"] == (length.map { [$0] } ?? []), "\(frames)")
      }
      // With trailers, or without an end in sight, it is chunked.
      upstream.forget()
      try python(
        gateway,
        """
        peer.send(peer.post(1, "/public/a"), raw(DATA, 0, 1, b"hello"),
                  raw(HEADERS, END_STREAM | END_HEADERS, 1, peer.block([("x-sum", "1")])))
        peer.answered(1)
        """)
      let trailing = try upstream.waitForRequest()
      #expect(trailing.fields["Transfer-Encoding"] == "chunked")
      #expect(String(decoding: trailing.bodyBytes, as: UTF8.self) == "5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")
    }
  }

  @Test("A health check in HTTP/1.0 without a host is answered; nothing else without a host is")
  func healthCheck() throws {
    try withGateway { gateway, upstream throws in
      #expect(try status(gateway, Array("OPTIONS / HTTP/1.0".utf8)) == 204)
      #expect(try status(gateway, Array("OPTIONS * HTTP/1.0".utf8)) == 204)
      #expect(try status(gateway, Array("GET / HTTP/1.0".utf8)) == 421)
      #expect(try status(gateway, Array("OPTIONS /public/a HTTP/1.0".utf8)) == 421)
      #expect(try status(gateway, Array("OPTIONS / HTTP/1.1".utf8)) == 400)
      #expect(try status(gateway, Array("OPTIONS / HTTP/1.0\r\nHost: other.example".utf8)) == 421)
      #expect(upstream.requests.isEmpty)
    }
  }

  private static func leadNowhere(_ configuration: inout GatewayConfiguration) {
    configuration["upstream", "url"] = "\"http://127.0.0.1:9\""
  }

  @Test("A caller of gRPC reads our errors as grpc-status in the head")
  func grpc() throws {
    try withGateway(Self.leadNowhere) { gateway, _ throws in
      for (path, code) in [("/private", "16"), ("/public/x", "14"), ("/public/inner", "7")] {
        let answer: HTTP2Client.Answer = try HTTP2Client(gateway).run("call", path, "1")
        #expect(answer.status == "200" && answer.done && answer.body.isEmpty, "\(path) \(answer)")
        #expect(answer.fields.contains(["grpc-status", code]), "\(path) \(answer.fields)")
        #expect(answer.fields.contains(["content-type", "application/grpc"]))
      }
      let web = try gateway.client.send("POST", "/private", fields: [("Content-Type", "application/grpc-web+proto")])
      #expect(web.status == 200 && web.fields["grpc-status"] == "16")
      let other = try gateway.client.send("POST", "/private", fields: [("Content-Type", "application/grpcs")])
      #expect(other.status >= 400)
    }
  }

  private nonisolated static let largeHead: RawUpstream.RequestHandler = { request, connection in
    let value = String(repeating: "v", count: 330)
    let fields = (0..<190).map { "X-\($0): \(value)" }
    try connection.send(
      request.target == "/public/empty"
        ? RawUpstream.response("204 No Content", fields: fields).replacingOccurrences(
          of: "Content-Length: 0\r\n", with: "")
        : RawUpstream.response(fields: fields, body: "body"))
  }

  @Test("A response head of 64 KiB reaches HTTP/2 clients, with a body and without")
  func largeHeads() throws {
    try withGateway(upstream: Self.largeHead) { gateway, _ throws in
      #expect(try gateway.client.get("/public/full").fields["X-189"]?.utf8.count == 330)
      for (path, status, body) in [("/public/full", "200", "body"), ("/public/empty", "204", "")] {
        let answer = try HTTP2Client(gateway).get(path)
        #expect(answer.status == status && answer.body == body && answer.done, "\(path)")
        #expect(answer.fields.count > 190)
      }
    }
  }
}
