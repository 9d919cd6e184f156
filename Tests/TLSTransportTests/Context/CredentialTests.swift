import Foundation
import Testing

@testable import TLSTransport

@Suite("Certificates and keys")
struct CredentialTests {
  private static func context(
    _ certificate: String = TestCertificates.valid.certificate, _ key: String = TestCertificates.valid.key
  ) throws(TLSConfigurationError) -> TLSServerContext {
    try TLSServerContext(certificateFile: certificate, privateKeyFile: key, applicationProtocols: ["http/1.1"])
  }

  @Test("The expiry is that of the certificate, and warned of in time")
  func expiry() throws {
    let context = try Self.context()
    let now = Int64(Date().timeIntervalSince1970)
    let day: Int64 = 86_400
    #expect(abs(context.certificateExpiry - (now + 30 * day)) < day)
    let expiry = context.certificateExpiry
    #expect(context.certificateWarning(at: now) == nil)
    #expect(context.certificateWarning(at: expiry - 13 * day) == .expiresSoon(at: expiry))
    #expect(context.certificateWarning(at: expiry) == .expired(since: expiry))
    #expect(context.certificateWarning(at: 0) == .notYetValid(until: expiry - 30 * day))
    #expect(context.certificateWarning(at: .min) == .notYetValid(until: expiry - 30 * day))
    #expect(context.certificateWarning(at: .max) == .expired(since: expiry))
  }

  @Test("An expired certificate is served, with a warning")
  func expired() throws {
    let files = TestCertificates.expired
    let context = try Self.context(files.certificate, files.key)
    #expect(context.certificateWarning(at: context.certificateExpiry + 1) == .expired(since: context.certificateExpiry))
  }

  @Test("A key open to others is refused with the remedy", arguments: [0o604, 0o644, 0o620, 0o660, 0o601, 0o602])
  func exposedKey(mode: Int) throws {
    let text = try TestCertificates.text(of: TestCertificates.valid.key)
    let path = try TestCertificates.write(text, to: "exposed-\(mode).key", mode: mode)
    let error = #expect(throws: TLSConfigurationError.self) {
      try Self.context(TestCertificates.valid.certificate, path)
    }
    #expect(error == .privateKeyExposed(file: path, mode: UInt32(mode)))
    #expect(error?.message.contains("chmod 600") == true)
    #expect(error?.message.contains("mode 0\(String(mode, radix: 8))") == true)
  }

  @Test("A key that its owner and a group may read is accepted", arguments: [0o400, 0o600, 0o640, 0o440])
  func privateKey(mode: Int) throws {
    let text = try TestCertificates.text(of: TestCertificates.valid.key)
    let path = try TestCertificates.write(text, to: "private-\(mode).key", mode: mode)
    #expect(throws: Never.self) { try Self.context(TestCertificates.valid.certificate, path) }
  }

  @Test("A key of another certificate is refused with both files named")
  func mismatch() throws {
    let other = TestCertificates.chained.key
    let error = #expect(throws: TLSConfigurationError.self) {
      try Self.context(TestCertificates.valid.certificate, other)
    }
    #expect(error == .keyMismatch(certificateFile: TestCertificates.valid.certificate, privateKeyFile: other))
    #expect(error?.message.contains(TestCertificates.valid.certificate) == true)
    #expect(error?.file == other)
  }

  @Test("A file that is missing, or no file, is refused with the reason")
  func missing() throws {
    let path = TestCertificates.path("missing.pem")
    #expect(throws: TLSConfigurationError.unreadable(file: path, reason: "No such file or directory")) {
      try Self.context(path)
    }
    let folder = TestCertificates.path("")
    #expect(throws: TLSConfigurationError.notAPlausibleFile(file: folder, limit: 1_048_576)) {
      try Self.context(folder)
    }
    #expect(throws: TLSConfigurationError.notAPlausibleFile(file: "/dev/zero", limit: 1_048_576)) {
      try TLSClientContext(trust: .file("/dev/zero"), applicationProtocols: [])
    }
  }

  @Test("Certificate and key in the place of the other are refused")
  func exchanged() throws {
    let key = TestCertificates.valid.key
    #expect(throws: TLSConfigurationError.noCertificate(file: key)) { try Self.context(key) }
    let text = try TestCertificates.text(of: TestCertificates.valid.certificate)
    let path = try TestCertificates.write(text, to: "certificate.key", mode: 0o600)
    #expect(throws: TLSConfigurationError.noPrivateKey(file: path)) {
      try Self.context(TestCertificates.valid.certificate, path)
    }
    let empty = try TestCertificates.write("", to: "empty", mode: 0o600)
    #expect(throws: TLSConfigurationError.noCertificate(file: empty)) { try Self.context(empty) }
    #expect(throws: TLSConfigurationError.noPrivateKey(file: empty)) {
      try Self.context(TestCertificates.valid.certificate, empty)
    }
    #expect(throws: TLSConfigurationError.noCertificate(file: empty)) {
      try TLSClientContext(trust: .file(empty), applicationProtocols: [])
    }
  }

  @Test("A damaged certificate or key is refused")
  func damaged() throws {
    let begin = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    let certificate = try TestCertificates.write(begin, to: "damaged.pem", mode: 0o644)
    guard
      case .malformed(certificate, _) = #expect(
        throws: TLSConfigurationError.self, performing: { try Self.context(certificate) })
    else {
      Issue.record("not recognized as malformed")
      return
    }
    let key = try TestCertificates.write(
      "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n", to: "damaged.key", mode: 0o600)
    let error = #expect(throws: TLSConfigurationError.self) {
      try Self.context(TestCertificates.valid.certificate, key)
    }
    #expect(error?.file == key)
    // Damage in an intermediate certificate is seen too.
    let chain = try TestCertificates.write(
      try TestCertificates.text(of: TestCertificates.valid.certificate) + begin, to: "damaged-chain.pem", mode: 0o644)
    #expect(throws: TLSConfigurationError.self) { try Self.context(chain) }
  }

  @Test(
    "A key with a passphrase is refused with the command that removes it, without a prompt on the terminal",
    arguments: ["pkcs8", "traditional"])
  func passphrase(format: String) throws {
    let path = TestCertificates.path("\(format).encrypted.key")
    if format == "pkcs8" {
      TestCertificates.openssl(
        "pkcs8", "-topk8", "-in", "valid.key", "-passout", "pass:secret", "-out", path, in: TestCertificates.directory)
    } else {
      TestCertificates.openssl(
        "ec", "-in", "valid.key", "-aes128", "-passout", "pass:secret", "-out", path, in: TestCertificates.directory)
    }
    let error = #expect(throws: TLSConfigurationError.self) {
      try Self.context(TestCertificates.valid.certificate, path)
    }
    #expect(error == .privateKeyEncrypted(file: path))
    #expect(error?.message.contains("openssl pkey -in \(path)") == true)
  }

  @Test("A key that OpenSSL finds too weak is refused")
  func weak() throws {
    TestCertificates.openssl(
      "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=weak", "-keyout", "weak.key", "-out", "weak.pem",
      in: TestCertificates.directory)
    let path = TestCertificates.path("weak.pem")
    #expect(throws: TLSConfigurationError.refused(file: path, reason: "ee key too small")) {
      try Self.context(path, TestCertificates.path("weak.key"))
    }
  }

  @Test("Names of application protocols have 1 to 255 bytes", arguments: ["", String(repeating: "x", count: 256)])
  func applicationProtocols(_ name: String) throws {
    #expect(throws: TLSConfigurationError.invalidApplicationProtocol(name)) {
      try TLSClientContext(trust: .system, applicationProtocols: [name])
    }
  }

  @Test("A damaged offer of protocols is read as far as it goes")
  func offers() throws {
    let protocols = try ApplicationProtocols(["h2", "http/1.1"])
    #expect(protocols.wireFormat == [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8))
    #expect(protocols.choose(from: [8] + Array("http/1.1".utf8) + [2] + Array("h2".utf8)) == 10..<12)
    #expect(protocols.choose(from: [2] + Array("h3".utf8)) == nil)
    #expect(protocols.choose(from: [3] + Array("h2".utf8)) == nil)
    #expect(protocols.choose(from: [0, 0, 2] + Array("h2".utf8)) == 3..<5)
    #expect(protocols.choose(from: [UInt8]()) == nil)
  }
}
