import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("Verification of servers by the client")
struct VerificationTests {
  private static func refusal(
    server: TestCertificates.Files = TestCertificates.valid,
    trust: TLSTrust = .file(TestCertificates.path(TestCertificates.authority)), serverName: String = "app.example.test"
  ) throws -> TLSError? {
    let pair = try ConnectedPair(server: server, trust: trust, serverName: serverName)
    try pair.activate()
    pair.client.write("a secret")
    pair.client.flush()
    try pair.pump()
    if pair.client.log.errors.isEmpty {
      #expect(pair.server.log.text == "a secret")
      pair.close()
      return nil
    }
    #expect(pair.client.log.negotiated == nil)
    #expect(pair.server.log.text == "")
    #expect(!pair.client.channel.isActive)
    // The server gets the reason.
    guard case .refusedByPeer = pair.server.log.errors.first else {
      Issue.record("\(pair.server.log.events)")
      return nil
    }
    return pair.client.log.errors.first
  }

  @Test(
    "Names of the certificate are believed", arguments: ["app.example.test", "APP.example.test", "a.wild.example.test"])
  func names(_ name: String) throws {
    #expect(try Self.refusal(serverName: name) == nil)
  }

  @Test(
    "Names and addresses that the certificate does not list are refused",
    arguments: ["other.example.test", "a.b.wild.example.test", "wild.example.test", "example.test", "127.0.0.2", "::2"])
  func otherNames(_ name: String) throws {
    #expect(try Self.refusal(serverName: name) == .verificationFailed(.hostNameMismatch))
  }

  @Test("The common name of a certificate is not a name of the server")
  func commonName() throws {
    #expect(try Self.refusal(server: TestCertificates.commonNameOnly) == .verificationFailed(.hostNameMismatch))
  }

  @Test("A certificate of an unknown authority is refused")
  func unknownAuthority() throws {
    let stranger = TLSTrust.file(TestCertificates.path("stranger.pem"))
    #expect(try Self.refusal(trust: stranger) == .verificationFailed(.unknownIssuer))
    #expect(try Self.refusal(trust: .system) == .verificationFailed(.unknownIssuer))
  }

  @Test("A self-signed certificate is refused, and believed when it is the trusted one")
  func selfSigned() throws {
    let files = TestCertificates.Files(
      certificate: TestCertificates.path("stranger.pem"), key: TestCertificates.path("stranger.key"))
    #expect(try Self.refusal(server: files) == .verificationFailed(.selfSigned))
    let trusted = TLSTrust.file(files.certificate)
    #expect(try Self.refusal(server: files, trust: trusted) == .verificationFailed(.hostNameMismatch))
  }

  @Test("An expired certificate is refused")
  func expired() throws {
    #expect(try Self.refusal(server: TestCertificates.expired) == .verificationFailed(.expired))
  }

  @Test("A certificate for clients only is refused, one for servers is believed")
  func purpose() throws {
    #expect(try Self.refusal(server: TestCertificates.forServers) == nil)
    let refusal = try Self.refusal(server: TestCertificates.forClients)
    // X509_V_ERR_INVALID_PURPOSE.
    guard case .verificationFailed(.other(code: 26, _)) = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
  }

  @Test("Intermediate certificates of the server's file are sent")
  func chain() throws {
    #expect(try Self.refusal(server: TestCertificates.chained) == nil)
  }

  @Test("An intermediate authority is trusted without its root if the file names it, and its root is not")
  func intermediateAuthority() throws {
    let intermediate = TLSTrust.file(TestCertificates.path(TestCertificates.intermediate))
    #expect(try Self.refusal(server: TestCertificates.chained, trust: intermediate) == nil)
    #expect(
      try Self.refusal(server: TestCertificates.valid, trust: intermediate) == .verificationFailed(.unknownIssuer))
  }

  @Test(
    "An invalid server name is refused before anything is sent",
    arguments: [
      "", ".", "a b", "app.example.test\u{0}.evil.test", "bücher.test", ".example.test",
      String(repeating: "a", count: 254),
    ])
  func impossibleNames(_ name: String) throws {
    let context = try TLSClientContext(trust: .system, applicationProtocols: [])
    #expect(throws: TLSError.invalidServerName) { try TLSHandler(client: context, serverName: name) }
  }

  @Test("Every failure says what to do, and whose fault it is")
  func messages() {
    let failures: [TLSVerificationFailure] = [
      .expired, .notYetValid, .hostNameMismatch, .unknownIssuer, .selfSigned, .revoked, .other(code: 1, reason: "why"),
    ]
    for failure in failures {
      let error = TLSError.verificationFailed(failure)
      #expect(error.message.utf8.contains(UInt8(ascii: ":")))
      #expect(error.fault == .peer)
      #expect(error.description == "tls_verification_failed: \(failure.message)")
    }
    #expect(Set(failures.map(\.message)).count == failures.count)
    #expect(Set(failures.map(\.problem)).count == failures.count)
  }
}
