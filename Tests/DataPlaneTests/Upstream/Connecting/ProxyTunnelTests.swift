import HTTPTypes
import NIOCore
import Secrets
import SocketTransport
import Testing

@testable import DataPlane

// Cases: the reply in one piece and byte by byte, refused, endless, with data after it, silence; and whole exchanges.

@Suite("Tunnels through an HTTP proxy")
struct ProxyTunnelTests {
  private func outcome(_ text: String) -> [ProxyReply.Outcome] {
    var (whole, bytewise) = (ProxyReply(), ProxyReply())
    var last = ProxyReply.Outcome.incomplete
    for byte in text.utf8 where last == .incomplete { last = bytewise.append([byte]) }
    return [whole.append(Array(text.utf8)), last]
  }

  @Test("Any 2xx reply makes a tunnel, whatever its fields")
  func connected() {
    for text in [
      "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200\r\n\r\n",
      "HTTP/1.1 204 x\r\nContent-Length: 5\r\nVia: p\r\n\r\n",
    ] { #expect(outcome(text) == [.connected, .connected], "\(text)") }
  }

  @Test("A refusal is told with the proxy's status line, without control characters")
  func refused() {
    #expect(
      outcome("HTTP/1.1 407 Proxy \u{1B}Authentication\r\nProxy-Authenticate: Basic\r\n\r\n")
        == Array(repeating: .refused("the proxy answered \"HTTP/1.1 407 Proxy ?Authentication\""), count: 2))
    for text in ["HTTP/2 200 x\r\n\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "\r\n\r\n"] {
      #expect(outcome(text) == Array(repeating: .refused("the proxy's reply is not HTTP/1"), count: 2), "\(text)")
    }
  }

  @Test("Replies without an end are bounded, and data before the first byte of ours is refused")
  func bounds() {
    var reply = ProxyReply()
    #expect(reply.append("HTTP/1.1 200 OK\r\n".utf8) == .incomplete)
    #expect(reply.append(Array(repeating: 0x61, count: 8_000)) == .incomplete)
    guard case .refused(let reason) = reply.append(Array(repeating: 0x61, count: 400)) else {
      Issue.record("accepted")
      return
    }
    #expect(reason.contains("8192"))
    var early = ProxyReply()
    #expect(
      early.append("HTTP/1.1 200 OK\r\n\r\nx".utf8)
        == .refused("the proxy sent data before the connection was used"))
  }

  private func exchange(
    connect: Duration = unreachable, _ script: @escaping ScriptedUpstream.Script
  ) async throws -> Result<OriginResponse, OriginError> {
    let proxy = try ScriptedUpstream(script)
    let group = try SocketEventLoopGroup(loops: 1)
    var settings = UpstreamSettings(address: .tcp(host: "apple.invalid", port: 8_080, tls: false))
    settings.timeouts.connect = connect
    let target = try UpstreamGroup(
      settings, proxy: ConnectProxy(host: "127.0.0.1", port: proxy.port, authorization: Secret("Basic dTpw")))
    let client = try await OriginClient(
      target, authority: "apple.invalid", timeout: unreachable, bodyLimit: 100, on: group.any())
    let result: Result<OriginResponse, OriginError>
    do throws(OriginError) {
      result = .success(
        try await client.send(
          HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/auth/keys"), body: []))
    } catch {
      result = .failure(error)
    }
    proxy.stop()
    try await group.shutdownGracefully()
    return result
  }

  @Test("The proxy gets CONNECT with host and port, looks the name up itself, and carries the exchange")
  func tunnel() async throws {
    let result = try await exchange { socket, _ in
      let head = try socket.readHead()
      let expected =
        "CONNECT apple.invalid:8080 HTTP/1.1\r\nHost: apple.invalid:8080\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
      guard head == expected else { return try socket.send("HTTP/1.1 400 \(head.count)\r\n\r\n") }
      try socket.send("HTTP/1.1 200 OK\r\n\r\n")
      guard try socket.readHead().hasPrefix("GET /auth/keys HTTP/1.1\r\nHost: apple.invalid\r\n") else { return }
      try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    }
    #expect(try result.get().body == Array("hi".utf8))
  }

  @Test("A failure at the proxy counts as a request that was not sent, and the reason names it")
  func failures() async throws {
    let cases: [(ScriptedUpstream.Script, Duration, String)] = [
      (
        { socket, _ in
          _ = try socket.readHead()
          try socket.send("HTTP/1.1 403 Forbidden\r\n\r\n")
        }, unreachable, "the proxy answered \"HTTP/1.1 403 Forbidden\""
      ),
      ({ socket, _ in _ = try socket.readHead() }, unreachable, "the proxy closed the connection"),
      ({ socket, _ in _ = try? socket.readToEnd() }, .seconds(4), "the proxy did not reply in time"),
    ]
    for (script, limit, reason) in cases {
      let result = try await exchange(connect: limit, script)
      guard case .failure(.notSent(let found)) = result else {
        Issue.record("\(result)")
        continue
      }
      #expect(found.contains(reason), "\(found)")
    }
  }
}
