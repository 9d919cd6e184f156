import Foundation
import Synchronization
import Testing

@testable import TLSTransport

@Suite("Sessions that are resumed")
struct ResumptionTests {
  private static func settings(_ files: TestCertificates.Files...) -> TLSServerSettings {
    TLSServerSettings(
      certificates: (files.isEmpty ? [TestCertificates.valid] : files).map {
        .init(certificateFile: $0.certificate, privateKeyFile: $0.key)
      }, applicationProtocols: [])
  }

  private static func client() throws -> TLSClientContext {
    try TLSClientContext(
      trust: .file(TestCertificates.path(TestCertificates.authority)), applicationProtocols: [])
  }

  /// A handshake, and whether both sides say that it resumed a session.
  private static func isResumed(
    _ server: TLSServerContext, _ client: TLSClientContext, _ sessions: TLSClientSessions,
    serverName: String = "app.example.test"
  ) throws -> Bool {
    let pair = try ConnectedPair(server: server, client: client, serverName: serverName, sessions: sessions)
    defer { pair.close() }
    try pair.activate()
    try pair.pump()
    let agreements = try (#require(pair.client.log.negotiated), #require(pair.server.log.negotiated))
    #expect(agreements.0.isResumed == agreements.1.isResumed)
    return agreements.1.isResumed
  }

  private static func keyFile(_ name: String, length: Int = 80) throws -> String {
    let text = String((0..<length).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126))) })
    return try TestCertificates.write(text, to: "\(name).ticket", mode: 0o600)
  }

  @Test("The second connection is resumed, and so is each after it")
  func resumes() throws {
    let server = try TLSServerContext(Self.settings(), ticketKeys: .random())
    let (client, sessions) = (try Self.client(), TLSClientSessions())
    #expect(!sessions.hasSession)
    #expect(try !Self.isResumed(server, client, sessions))
    for _ in 0..<3 { #expect(try Self.isResumed(server, client, sessions)) }
  }

  /// A clock that the test sets, in seconds since 1970.
  private final class Clock: Sendable {
    private let seconds = Atomic<Int64>(1_800_000_000)
    var now: Int64 { seconds.load(ordering: .relaxed) }
    func advance(by more: Int64) { seconds.add(more, ordering: .relaxed) }
  }

  @Test("A session can be resumed for two hours after the full handshake, however many tickets follow")
  func seriesEnds() throws {
    let clock = Clock()
    let server = try TLSServerContext(Self.settings(), ticketKeys: .random(), now: { clock.now })
    let (client, sessions) = (try Self.client(), TLSClientSessions())
    #expect(try !Self.isResumed(server, client, sessions))
    for step: Int64 in [3_600, 3_599, 1] {
      clock.advance(by: step)
      #expect(try Self.isResumed(server, client, sessions))
    }
    clock.advance(by: 1)
    #expect(try !Self.isResumed(server, client, sessions))
    // The full handshake begins the next series.
    clock.advance(by: 7_200)
    #expect(try Self.isResumed(server, client, sessions))
  }

  @Test("Contexts with other ticket keys keep to the time of the full handshake")
  func seriesOutlivesRotation() throws {
    let clock = Clock()
    let keys = try TLSTicketKeys.random()
    let server = try TLSServerContext(Self.settings(), ticketKeys: keys, now: { clock.now })
    let (client, sessions) = (try Self.client(), TLSClientSessions())
    #expect(try !Self.isResumed(server, client, sessions))
    clock.advance(by: 3_600)
    let rotated = try server.with(try keys.rotated())
    #expect(try Self.isResumed(rotated, client, sessions))
    clock.advance(by: 3_601)
    #expect(try !Self.isResumed(rotated, client, sessions))
  }

  @Test("A client verifies the server's certificate again after two hours, however many tickets it got")
  func clientVerifiesAgain() throws {
    let clock = Clock()
    let server = try TLSServerContext(Self.settings(), ticketKeys: .random())
    let (client, sessions) = (try Self.client(), TLSClientSessions(now: { clock.now }))
    #expect(try !Self.isResumed(server, client, sessions))
    for _ in 0..<2 {
      clock.advance(by: 3_600)
      #expect(try Self.isResumed(server, client, sessions))
    }
    clock.advance(by: 1)
    #expect(!sessions.hasSession)
    #expect(try !Self.isResumed(server, client, sessions))
    // Two more hours begin with the full handshake.
    clock.advance(by: 7_200)
    #expect(try Self.isResumed(server, client, sessions))
  }

  @Test("A ticket that comes late is as old as its connection, however many come")
  func lateTicket() throws {
    let clock = Clock()
    let server = try TLSServerContext(Self.settings(), ticketKeys: .random())
    let (client, sessions) = (try Self.client(), TLSClientSessions(now: { clock.now }))
    let pair = try ConnectedPair(server: server, client: client, sessions: sessions)
    defer { pair.close() }
    try pair.activate()
    for step: Int64 in [7_200, 1] {
      // The server's tickets follow the handshake, at whatever time they arrive.
      clock.advance(by: step)
      try pair.pump()
      #expect(pair.client.log.negotiated != nil)
      #expect(sessions.hasSession == (step == 7_200))
    }
  }

  @Test("Another replica with the same key file resumes, one with another does not", arguments: [80, 48])
  func replicas(length: Int) throws {
    let file = try Self.keyFile("shared-\(length)", length: length)
    let one = try TLSServerContext(Self.settings(), ticketKeys: TLSTicketKeys(files: [file]))
    let two = try TLSServerContext(Self.settings(), ticketKeys: TLSTicketKeys(files: [file]))
    let stranger = try TLSServerContext(
      Self.settings(), ticketKeys: TLSTicketKeys(files: [try Self.keyFile("strange-\(length)", length: length)]))
    let (client, sessions) = (try Self.client(), TLSClientSessions())
    #expect(try !Self.isResumed(one, client, sessions))
    #expect(try Self.isResumed(two, client, sessions))
    #expect(try !Self.isResumed(stranger, client, sessions))
  }

  @Test("After a new key was put first, tickets of the old one are taken back until it goes")
  func rotation() throws {
    let (old, new) = (try Self.keyFile("old"), try Self.keyFile("new"))
    let (client, sessions) = (try Self.client(), TLSClientSessions())
    let first = try TLSServerContext(Self.settings(), ticketKeys: TLSTicketKeys(files: [old]))
    #expect(try !Self.isResumed(first, client, sessions))
    let both = try first.with(TLSTicketKeys(files: [new, old]))
    #expect(try Self.isResumed(both, client, sessions))
    // The ticket that came with it is of the new key.
    let last = try first.with(TLSTicketKeys(files: [new]))
    #expect(try Self.isResumed(last, client, sessions))
    #expect(try !Self.isResumed(first, client, sessions))
  }

  @Test("Keys in memory are rotated: the last ones are kept, those before go")
  func memory() throws {
    let keys = try TLSTicketKeys.random()
    let server = try TLSServerContext(Self.settings(), ticketKeys: keys)
    let (client, early) = (try Self.client(), TLSClientSessions())
    #expect(try !Self.isResumed(server, client, early))
    let once = try keys.rotated()
    let late = TLSClientSessions()
    #expect(try !Self.isResumed(server, client, late))
    #expect(try Self.isResumed(try server.with(once), client, early))
    let twice = try server.with(try once.rotated())
    #expect(try !Self.isResumed(twice, client, late))
  }

  @Test("A session is resumed with the second certificate, too")
  func secondCertificate() throws {
    let server = try TLSServerContext(
      Self.settings(TestCertificates.valid, TestCertificates.other), ticketKeys: .random())
    let (client, sessions) = (try Self.client(), TLSClientSessions())
    let name = "other.example.test"
    #expect(try !Self.isResumed(server, client, sessions, serverName: name))
    #expect(try Self.isResumed(server, client, sessions, serverName: name))
  }

  @Test("A ticket key of another length, or open to others, is refused with the remedy")
  func badKeys() throws {
    let short = try Self.keyFile("short key", length: 79)
    let error = #expect(throws: TLSConfigurationError.self) { try TLSTicketKeys(files: [short]) }
    #expect(error == .notATicketKey(file: short, length: 79))
    #expect(error?.message.contains("openssl rand 80 > \"\(short)\")") == true)
    let exposed = try Self.keyFile("exposed")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: exposed)
    #expect(throws: TLSConfigurationError.privateKeyExposed(file: exposed, mode: 0o644)) {
      try TLSTicketKeys(files: [exposed])
    }
  }

  @Test("A ticket key prints nothing of itself")
  func secrecy() throws {
    let file = try Self.keyFile("secret")
    let text = try TestCertificates.text(of: file)
    let keys = try TLSTicketKeys(files: [file])
    var dumped = ""
    dump(keys, to: &dumped)
    for shown in ["\(keys)", dumped, String(reflecting: keys)] { #expect(!shown.contains(text.prefix(8))) }
  }
}
