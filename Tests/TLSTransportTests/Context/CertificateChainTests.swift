import Foundation
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

  @Test("A chain lacks an issuer that the one before had, unless it was a root")
  func lostIssuer() throws {
    func chain(_ certificate: String, _ key: String) throws -> CertificateChain {
      try TLSIdentity(certificateFile: certificate, privateKeyFile: key).chain
    }
    let files = TestCertificates.chained
    let whole = try chain(files.certificate, files.key)
    let end = "-----END CERTIFICATE-----\n"
    let first = try #require(try TestCertificates.text(of: files.certificate).components(separatedBy: end).first)
    let cut = try chain(TestCertificates.write(first + end, to: "cut.pem", mode: 0o644), files.key)
    #expect(cut.lacksIssuer(of: whole))
    #expect(!whole.lacksIssuer(of: cut) && !whole.lacksIssuer(of: whole) && !cut.lacksIssuer(of: cut))

    let valid = TestCertificates.valid
    let texts = try [valid.certificate, TestCertificates.path(TestCertificates.authority)]
      .map(TestCertificates.text(of:))
    let rooted = try chain(TestCertificates.write(texts.joined(), to: "rooted.pem", mode: 0o644), valid.key)
    let bare = try chain(valid.certificate, valid.key)
    #expect(!bare.lacksIssuer(of: rooted))
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
