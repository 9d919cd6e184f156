import Testing

@testable import TLSTransport

@Suite("The choice among several certificates")
struct CertificateChoiceTests {
  private static func context(_ files: TestCertificates.Files...) throws -> TLSServerContext {
    try TLSServerContext(
      TLSServerSettings(
        certificates: files.map { .init(certificateFile: $0.certificate, privateKeyFile: $0.key) },
        applicationProtocols: ["http/1.1"]),
      ticketKeys: .random())
  }

  private static func client() throws -> TLSClientContext {
    try TLSClientContext(
      trust: .file(TestCertificates.path(TestCertificates.authority)), applicationProtocols: ["http/1.1"])
  }

  @Test(
    "The one that lists the name is shown, and ALPN works with each",
    arguments: ["app.example.test", "other.example.test", "OTHER.example.TEST", "x.wild.example.test"])
  func shown(name: String) throws {
    let pair = try ConnectedPair(
      server: Self.context(TestCertificates.valid, TestCertificates.other), client: Self.client(), serverName: name)
    defer { pair.close() }
    try pair.activate()
    try pair.pump()
    // The client has verified that the certificate lists the name.
    #expect(pair.client.log.negotiated?.negotiatedProtocol == "http/1.1", "\(pair.client.log.events)")
    pair.client.write("ping")
    pair.client.flush()
    try pair.pump()
    #expect(pair.server.log.text == "ping")
  }

  @Test("A name that no certificate lists is served the first: the client reports what is wrong")
  func noneLists() throws {
    let pair = try ConnectedPair(
      server: Self.context(TestCertificates.valid, TestCertificates.other), client: Self.client(),
      serverName: "nobody.example.test")
    defer { pair.close() }
    try pair.activate()
    try pair.pump()
    #expect(pair.client.log.errors == [.verificationFailed(.hostNameMismatch)])
  }

  @Test("An exact name precedes a wildcard, and a wildcard matches one whole label")
  func names() throws {
    let choice = CertificateChoice(
      try [TestCertificates.valid, TestCertificates.other].map { files in
        let identity = try TLSIdentity(certificateFile: files.certificate, privateKeyFile: files.key)
        return (CertificateNames(of: identity.chain.leaf), 0)
      })
    func place(_ name: String) -> Int? { choice.setIndex(for: Array(name.utf8)).flatMap { choice.sets[$0].first } }
    #expect(place("app.example.test") == 0)
    #expect(place("app.example.test.") == 0)
    #expect(place("other.example.test") == 1)
    // Both have the wildcard: the first is meant.
    #expect(place("x.wild.example.test") == 0)
    #expect(place("b.wild.example.test") == 0)
    #expect(place("a.b.wild.example.test") == 1)
    for name in ["c.b.wild.example.test", "wild.example.test", ".wild.example.test", "", ".", "example.test", "*"] {
      #expect(place(name) == nil, "\(name)")
    }
    #expect(choice.setIndex(for: [0x61, 0, 0x62]) == nil)
  }

  @Test("Certificates for one name with keys of different kinds serve it together")
  func kindsOfKeys() throws {
    let files = [TestCertificates.valid, TestCertificates.other]
    let names = try files.map {
      CertificateNames(of: try TLSIdentity(certificateFile: $0.certificate, privateKeyFile: $0.key).chain.leaf)
    }
    // The first and the second share the wildcard.
    let choice = CertificateChoice([(names[0], 1), (names[1], 2), (names[0], 1), (names[0], 3)])
    func set(_ name: String) -> [Int]? { choice.setIndex(for: Array(name.utf8)).map { choice.sets[$0] } }
    #expect(choice.sets.first == [0, 1, 3], "for clients that name none")
    #expect(set("app.example.test") == [0, 3])
    #expect(set("other.example.test") == [1])
    #expect(set("x.wild.example.test") == [0, 1, 3])
    #expect(Set(choice.sets.joined()) == [0, 1, 2, 3], "each is loaded, also one that nobody is shown")
    #expect(CertificateChoice([]).sets.isEmpty)
  }

  @Test("The names of a certificate are read in lower case, addresses left out")
  func readNames() throws {
    let identity = try TLSIdentity(
      certificateFile: TestCertificates.other.certificate, privateKeyFile: TestCertificates.other.key)
    #expect(
      CertificateNames(of: identity.chain.leaf).names.map { String(decoding: $0, as: UTF8.self) }
        == ["other.example.test", "*.wild.example.test", "a.b.wild.example.test"])
    let first = try TLSIdentity(
      certificateFile: TestCertificates.valid.certificate, privateKeyFile: TestCertificates.valid.key)
    #expect(CertificateNames(of: first.chain.leaf).names.count == 2)
  }

  @Test("Without a certificate there is no server")
  func none() {
    #expect(throws: TLSConfigurationError.noIdentity) { try Self.context() }
  }

  @Test("The reported expiry is that of the first to expire, and a refusal precedes a notice")
  func dates() throws {
    let context = try Self.context(TestCertificates.valid, TestCertificates.expired)
    #expect(context.expiries.count == 2)
    #expect(context.certificateExpiry == context.expiries[1].expiry)
    #expect(context.certificateWarning(at: context.expiries[1].expiry + 1)?.isRefusal == true)
  }

  @Test("A certificate of a kind that no browser knows is reported, unless another serves its names")
  func forNoBrowser() throws {
    let edwards = TestCertificates.edwards
    #expect(try Self.context(edwards).filesForNoBrowser == [edwards.certificate])
    #expect(try Self.context(TestCertificates.other, edwards).filesForNoBrowser == [edwards.certificate])
    #expect(try Self.context(edwards, TestCertificates.valid).filesForNoBrowser == [])
  }
}
