import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("Clients that show a certificate")
struct ClientCertificateTests {
  enum Shown: CaseIterable, Sendable { case nothing, good, strange, expired, forServers }

  private static func pair(areRequired: Bool, _ shown: Shown) throws -> ConnectedPair {
    let files: TestCertificates.Files? =
      switch shown {
      case .nothing: nil
      case .good: TestCertificates.other
      case .strange: TestCertificates.stranger
      case .expired: TestCertificates.expired
      case .forServers: TestCertificates.forServers
      }
    return try pair(
      authorities: TestCertificates.path(TestCertificates.authority), areRequired: areRequired, showing: files)
  }

  private static func pair(
    authorities: String, areRequired: Bool, showing files: TestCertificates.Files?
  ) throws -> ConnectedPair {
    let server = try TLSServerContext(
      TLSServerSettings(
        certificates: [
          .init(certificateFile: TestCertificates.valid.certificate, privateKeyFile: TestCertificates.valid.key)
        ], applicationProtocols: [], clients: .init(authorityFile: authorities, areRequired: areRequired)),
      ticketKeys: .random())
    let client = try TLSClientContext(
      trust: .file(TestCertificates.path(TestCertificates.authority)),
      identity: files.map { .init(certificateFile: $0.certificate, privateKeyFile: $0.key) },
      applicationProtocols: [])
    return try ConnectedPair(server: server, client: client)
  }

  @Test(
    "A required client certificate must verify, and an optional one may be missing",
    arguments: [true, false], Shown.allCases)
  func refused(areRequired: Bool, shown: Shown) throws {
    let pair = try Self.pair(areRequired: areRequired, shown)
    defer { pair.close() }
    try pair.activate()
    try pair.pump()
    let isServed = shown == .good || (shown == .nothing && !areRequired)
    #expect((pair.server.log.negotiated != nil) == isServed, "\(pair.server.log.events)")
    guard !isServed else { return }
    #expect(!pair.server.channel.isActive)
    // TLS 1.3 has the client finish first: the alert comes after (RFC 8446, 4.4.2.4).
    guard case .refusedByPeer = pair.client.log.errors.first else {
      Issue.record("\(pair.client.log.events)")
      return
    }
    #expect(pair.server.log.errors.first?.fault == .peer)
    #expect((pair.server.log.errors == [.clientCertificateMissing]) == (shown == .nothing))
  }

  @Test("Of an authority file with an intermediate authority alone, only what that one issued is accepted")
  func intermediateAuthority() throws {
    let file = TestCertificates.path(TestCertificates.intermediate)
    for (shown, isServed) in [(TestCertificates.chained, true), (TestCertificates.other, false)] {
      let pair = try Self.pair(authorities: file, areRequired: true, showing: shown)
      defer { pair.close() }
      try pair.activate()
      try pair.pump()
      #expect((pair.server.log.negotiated != nil) == isServed, "\(pair.server.log.events)")
      guard !isServed else { continue }
      #expect(pair.server.log.errors == [.verificationFailed(.unknownIssuer)])
    }
  }

  @Test("An authority for clients that has issued a certificate of the server's own chain is named")
  func sharedAuthorities() throws {
    func shared(_ server: TestCertificates.Files, _ authorities: String?) throws -> [String] {
      try TLSServerContext(
        TLSServerSettings(
          certificates: [.init(certificateFile: server.certificate, privateKeyFile: server.key)],
          applicationProtocols: [],
          clients: authorities.map { .init(authorityFile: TestCertificates.path($0), areRequired: true) }),
        ticketKeys: .random()
      ).sharedAuthorities
    }
    #expect(try shared(TestCertificates.valid, TestCertificates.authority) == ["/CN=ca"])
    #expect(try shared(TestCertificates.chained, TestCertificates.intermediate) == ["/CN=intermediate"])
    #expect(try shared(TestCertificates.chained, TestCertificates.authority) == ["/CN=ca"], "by its intermediate")
    #expect(try shared(TestCertificates.valid, TestCertificates.intermediate) == [])
    #expect(try shared(TestCertificates.valid, "stranger.pem") == [])
    #expect(try shared(TestCertificates.valid, nil) == [])
  }

  @Test("A file with a certificate of an authority is told from one without")
  func holdsAuthority() throws {
    func holds(_ names: String...) throws -> Bool? {
      let texts = try names.map { try TestCertificates.text(of: TestCertificates.path($0)) }
      return TLSAuthorityFile.holdsAuthority(Array(texts.joined().utf8))
    }
    #expect(try holds("ca.pem") == true)
    #expect(try holds("intermediate.pem") == true)
    #expect(try holds("valid.pem", "ca.pem") == true)
    #expect(try holds("valid.pem", "cn.pem") == false)
    #expect(TLSAuthorityFile.holdsAuthority([]) == nil)
    #expect(TLSAuthorityFile.holdsAuthority(Array("-----BEGIN CERTIFICATE-----\nMIIB\n".utf8)) == nil)
  }

  @Test("A file of authorities without a certificate is refused")
  func noAuthority() throws {
    let empty = try TestCertificates.write("", to: "no-authority.pem", mode: 0o600)
    #expect(throws: TLSConfigurationError.noCertificate(file: empty)) {
      try ClientAuthority(.init(authorityFile: empty, areRequired: true))
    }
  }

  @Test("A ticket that was given without a certificate does not lead past one that is asked for")
  func ticketsAreBound() throws {
    let file = TestCertificates.path("ticket-bound.key")
    _ = try TestCertificates.write(String(repeating: "k", count: 80), to: "ticket-bound.key", mode: 0o600)
    let keys = try TLSTicketKeys(files: [file])
    let authority = TestCertificates.path(TestCertificates.authority)
    var settings = TLSServerSettings(
      certificates: [
        .init(certificateFile: TestCertificates.valid.certificate, privateKeyFile: TestCertificates.valid.key)
      ], applicationProtocols: [])
    let open = try TLSServerContext(settings, ticketKeys: keys)
    settings.clients = .init(authorityFile: authority, areRequired: true)
    let closed = try TLSServerContext(settings, ticketKeys: keys)
    let client = try TLSClientContext(trust: .file(authority), applicationProtocols: [])
    let sessions = TLSClientSessions()
    let first = try ConnectedPair(server: open, client: client, sessions: sessions)
    defer { first.close() }
    try first.activate()
    try first.pump()
    #expect(sessions.hasSession)
    let second = try ConnectedPair(server: closed, client: client, sessions: sessions)
    defer { second.close() }
    try second.activate()
    try second.pump()
    #expect(second.server.log.negotiated == nil)
  }
}
