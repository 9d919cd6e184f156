import HTTPTypes
import NIOCore
import SocketTransport
import Testing
import WaitingTesting

@testable import DataPlane

// Cases: whole answers in each framing, refused, garbage, half answers, too large, silence.

@Suite("The gateway's own client")
struct OriginClientTests {
  private func client(
    _ script: @escaping ScriptedUpstream.Script, timeout: Duration = patience, proposesLenience: Bool = false,
    _ body: (OriginClient, ScriptedUpstream) async throws -> Void
  ) async throws {
    let upstream = try ScriptedUpstream(script)
    let group = try SocketEventLoopGroup(loops: 1)
    let target = try UpstreamGroup(
      UpstreamSettings(address: .tcp(host: "127.0.0.1", port: upstream.port, tls: false), timeouts: .unreachable))
    let client = try await OriginClient(
      target, authority: "apple.example", timeout: timeout, bodyLimit: 1_000, proposesLenience: proposesLenience,
      on: group.any())
    var failure: (any Error)?
    do { try await body(client, upstream) } catch { failure = error }
    upstream.stop()
    try await group.shutdownGracefully()
    if let failure { throw failure }
  }

  private static let post = HTTPRequest(
    method: .post, scheme: "https", authority: "apple.example", path: "/auth/token?x",
    headerFields: [.accept: "application/json", .contentLength: "999", .transferEncoding: "chunked"])

  private func failure(_ script: @escaping ScriptedUpstream.Script, timeout: Duration = patience) async throws
    -> OriginError?
  {
    var found: OriginError?
    try await client(script, timeout: timeout) { client, _ in
      do throws(OriginError) { _ = try await client.send(Self.post, body: [1]) } catch { found = error }
    }
    return found
  }

  private func isUnanswered(_ error: OriginError?) -> Bool {
    if case .unanswered? = error { return true }
    return false
  }

  @Test("A request is framed by the client, and its answer read in each framing")
  func answers() async throws {
    let framings = [
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
      "HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nhello",
      "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello",
    ]
    try await client(
      { socket, number in
        let request = try socket.readRequest()
        guard request.head.hasPrefix("POST /auth/token?x HTTP/1.1\r\nHost: apple.example\r\n"),
          request.body == [1, 2, 3],
          request.head.contains("Accept: application/json\r\n"), !request.head.contains("999"),
          !request.head.contains("chunked")
        else { return try socket.answer(request.head, status: "400 Bad") }
        try socket.send(framings[number])
      },
      { client, upstream in
        for _ in framings {
          let response = try await client.send(Self.post, body: [1, 2, 3])
          #expect(response.head.status == .ok && response.body == Array("hello".utf8))
          #expect(response.head.headerFields[HTTPField.Name("X-A")!] == "b")
        }
        // Each on its own connection: on a kept one it is unknown whether a request arrived.
        #expect(upstream.accepted == framings.count)
      })
  }

  @Test("A request is reported as not sent only if nothing can have been sent")
  func notSent() async throws {
    try await client(echoing) { client, upstream in
      upstream.stop()
      await #expect(throws: OriginError.self) { try await client.send(Self.post, body: []) }
      var found: OriginError?
      do throws(OriginError) { _ = try await client.send(Self.post, body: []) } catch { found = error }
      guard case .notSent? = found else {
        Issue.record("\(String(describing: found))")
        return
      }
    }
  }

  @Test(
    "Garbage and half answers leave a request unanswered",
    arguments: [
      "", "<html>", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 1_001), "HTTP/1.1 100 Continue\r\n\r\n",
    ])
  func unanswered(_ bytes: String) async throws {
    let found = try await failure { socket, _ in
      _ = try socket.readRequest()
      try socket.send(bytes)
    }
    #expect(isUnanswered(found))
  }

  @Test("The setting that would accept a malformed response is named for upstreams, not for other servers")
  func proposedLenience() async throws {
    let bareLF: ScriptedUpstream.Script = { socket, _ in
      _ = try socket.readRequest()
      try socket.send("HTTP/1.1 200 OK\nContent-Length: 1\n\nx")
    }
    for isUpstream in [true, false] {
      try await client(bareLF, proposesLenience: isUpstream) { client, _ in
        var found: OriginError?
        do throws(OriginError) { _ = try await client.send(Self.post, body: []) } catch { found = error }
        guard case .unanswered(let reason)? = found else {
          Issue.record("\(String(describing: found))")
          return
        }
        #expect(reason.contains("bare-lf") == isUpstream, "\(reason)")
      }
    }
  }

  @Test("A request whose time is over without an answer is unanswered")
  func silence() async throws {
    let found = try await failure({ socket, _ in _ = try? socket.readToEnd() }, timeout: .milliseconds(100))
    #expect(isUnanswered(found))
  }

  @Test("A client that is released while it connects does not trap")
  func releaseHolding() async throws {
    let upstream = try ScriptedUpstream { socket, _ in _ = try? socket.readToEnd() }
    let group = try SocketEventLoopGroup(loops: 1)
    for _ in 0..<20 {
      let target = try UpstreamGroup(
        UpstreamSettings(address: .tcp(host: "127.0.0.1", port: upstream.port, tls: false)))
      let client = try await OriginClient(
        target, authority: "a", timeout: .milliseconds(1), bodyLimit: 1, on: group.any())
      await #expect(throws: OriginError.self) { try await client.send(Self.post, body: []) }
    }
    #expect(await eventually { upstream.accepted == 20 })
    upstream.stop()
    try await group.shutdownGracefully()
  }
}
