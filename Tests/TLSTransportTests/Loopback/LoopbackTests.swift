import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import TLSTransport

@Suite("Over sockets")
struct LoopbackTests {
  @Test("A megabyte comes back unchanged")
  func megabyte() async throws {
    let server = try await EchoServer.start(protocols: ["http/1.1"])
    let bytes = ByteBuffer(bytes: (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
    let result = try await LoopbackClient.exchange(bytes, port: server.port, protocols: ["http/1.1"])
    #expect(result.received == bytes)
    #expect(result.error == nil)
    #expect(result.negotiated?.negotiatedProtocol == "http/1.1")
    try await server.stop()
  }

  @Test("Many connections at once each get their own bytes")
  func manyConnections() async throws {
    let server = try await EchoServer.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          let bytes = ByteBuffer(repeating: UInt8(number), count: 1 + number * 1_000)
          let result = try await LoopbackClient.exchange(bytes, port: server.port)
          #expect(result.received == bytes)
          #expect(result.error == nil)
        }
      }
      try await group.waitForAll()
    }
    #expect(server.journal.agreements.withLock { $0.count } == 40)
    try await server.stop()
  }

  @Test("A server that is not the one asked for gets nothing")
  func hostName() async throws {
    let server = try await EchoServer.start()
    let bytes = ByteBuffer(string: "a secret")
    let result = try await LoopbackClient.exchange(bytes, port: server.port, serverName: "other.example.test")
    #expect(result.error == .verificationFailed(.hostNameMismatch))
    #expect(result.received.readableBytes == 0)
    try await server.stop()
  }

  @Test("OpenSSL's own client is served with each version", arguments: ["-tls1_2", "-tls1_3"])
  func versions(_ version: String) async throws {
    let server = try await EchoServer.start(protocols: ["h2", "http/1.1"])
    let output = try await OpenSSLCommand.client(
      port: server.port, [version, "-alpn", "http/1.1", "-servername", "app.example.test", "-CAfile", "ca.pem"])
    #expect(output.contains("Verify return code: 0 (ok)"))
    #expect(output.contains("ALPN protocol: http/1.1"))
    #expect(output.contains("Secure Renegotiation IS supported") || version == "-tls1_3")
    let negotiated = try #require(server.journal.agreements.withLock { $0.first })
    #expect(negotiated.version == (version == "-tls1_2" ? .tls12 : .tls13))
    #expect(negotiated.serverName == "app.example.test")
    try await server.stop()
  }

  @Test(
    "A client limited to TLS 1.1, or to a suite without forward secrecy, is refused",
    arguments: [
      ["-tls1_1", "-cipher", "ALL@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
      ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"],
    ])
  func refused(_ arguments: [String]) async throws {
    let server = try await EchoServer.start()
    let output = try await OpenSSLCommand.client(port: server.port, arguments)
    #expect(output.contains("alert"))
    #expect(server.journal.agreements.withLock { $0.isEmpty })
    try await server.stop()
  }

  @Test("A session is resumed by its ticket", arguments: ["-tls1_2", "-tls1_3"])
  func resumption(_ version: String) async throws {
    let server = try await EchoServer.start()
    let file = TestCertificates.path("session\(version)")
    // The tickets arrive before the echo, after which the client goes.
    _ = try await OpenSSLCommand.client(port: server.port, [version, "-sess_out", file])
    _ = try await OpenSSLCommand.client(port: server.port, [version, "-sess_in", file])
    #expect(server.journal.agreements.withLock { $0.map(\.isResumed) } == [false, true])
    try await server.stop()
  }

  @Test("Tickets allow no early data")
  func noEarlyData() async throws {
    let server = try await EchoServer.start()
    let output = try await OpenSSLCommand.client(port: server.port, ["-tls1_3"])
    let limits = output.split(separator: "\n").filter { $0.contains("Max Early Data") }
    #expect(!limits.isEmpty && limits.allSatisfy { $0.hasSuffix("Max Early Data: 0") })
    try await server.stop()
  }

  @Test(
    "The certificates of the file are sent, and no authority of clients with them", arguments: ["-tls1_2", "-tls1_3"])
  func chain(_ version: String) async throws {
    let context = try TLSServerContext(
      TLSServerSettings(
        certificates: [
          .init(certificateFile: TestCertificates.valid.certificate, privateKeyFile: TestCertificates.valid.key)
        ], applicationProtocols: [],
        clients: .init(authorityFile: TestCertificates.path(TestCertificates.authority), areRequired: false)),
      ticketKeys: .random())
    let server = try await EchoServer.start(context)
    let output = try await OpenSSLCommand.client(port: server.port, [version, "-showcerts"])
    #expect(output.components(separatedBy: "-----BEGIN CERTIFICATE-----").count == 2)
    try await server.stop()
  }

  @Test("A client that wants to renegotiate is refused")
  func renegotiation() async throws {
    let server = try await EchoServer.start()
    // "R" on a line of its own asks s_client to renegotiate.
    let output = try await OpenSSLCommand.client(port: server.port, ["-tls1_2"], input: "R\n")
    #expect(output.contains("RENEGOTIATING"))
    #expect(output.contains("no renegotiation"))
    try await server.stop()
  }

  @Test("Our client speaks to OpenSSL's own server with each version", arguments: ["-tls1_2", "-tls1_3"])
  func client(_ version: String) async throws {
    let server = try OpenSSLCommand.Server([version, "-alpn", "http/1.1"])
    let result = try await LoopbackClient.exchange(
      ByteBuffer(string: "drawer\n"), port: server.port, protocols: ["http/1.1"])
    #expect(String(buffer: result.received) == "reward\n")
    #expect(result.error == nil)
    #expect(result.negotiated?.version == (version == "-tls1_2" ? .tls12 : .tls13))
    #expect(result.negotiated?.negotiatedProtocol == "http/1.1")
    server.stop()
  }

  @Test("Our client refuses a server that knows TLS 1.1 at most")
  func oldServer() async throws {
    let server = try OpenSSLCommand.Server(["-tls1_1", "-cipher", "ALL@SECLEVEL=0"])
    let result = try await LoopbackClient.exchange(ByteBuffer(string: "x"), port: server.port)
    #expect(result.error == .unsupportedVersion)
    server.stop()
  }
}
