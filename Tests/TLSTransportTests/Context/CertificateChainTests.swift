import Testing

@testable import TLSTransport

@Suite("The chain of certificates in a file")
struct CertificateChainTests {
  private static func missingIssuer(_ files: TestCertificates.Files) throws -> String? {
    try TLSIdentity(certificateFile: files.certificate, privateKeyFile: files.key).chain.missingIssuer()
  }

  @Test("An issuer that is neither in the file nor a root of the system is missing")
  func missing() throws {
    #expect(try Self.missingIssuer(TestCertificates.valid) == "/CN=ca")
    #expect(try Self.missingIssuer(TestCertificates.expired) == "/CN=ca", "the date is another matter")
    #expect(try Self.missingIssuer(TestCertificates.chained) == "/CN=ca", "that of the last one")
  }

  @Test("A chain is complete if its root is in the file, or the certificate is its own issuer")
  func complete() throws {
    let texts = try [TestCertificates.valid.certificate, TestCertificates.path(TestCertificates.authority)]
      .map(TestCertificates.text(of:))
    let whole = try TestCertificates.write(texts.joined(), to: "whole.pem", mode: 0o644)
    #expect(try Self.missingIssuer(.init(certificate: whole, key: TestCertificates.valid.key)) == nil)
    let root = TestCertificates.Files(
      certificate: TestCertificates.path("ca.pem"), key: TestCertificates.path("ca.key"))
    #expect(try Self.missingIssuer(root) == nil)
  }

  @Test("Every file with a missing issuer is named")
  func files() throws {
    let files = [TestCertificates.valid, TestCertificates.chained]
    let context = try TLSServerContext(
      TLSServerSettings(
        certificates: files.map { .init(certificateFile: $0.certificate, privateKeyFile: $0.key) },
        applicationProtocols: []), ticketKeys: .random())
    #expect(try context.missingIssuers().map(\.file) == files.map(\.certificate))
  }
}
