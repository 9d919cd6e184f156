import AppleIdentity
import Crypto
import CryptoExtras
import Foundation
import Secrets
import TemporaryDirectoryTesting
import Testing

@Suite("The .p8 file")
struct ClientSecretKeyTests {
  private let pem = P256.Signing.PrivateKey().pemRepresentation

  private func problem(_ pem: String) -> ClientSecretKeyError? {
    do throws(ClientSecretKeyError) {
      _ = try ClientSecretKey(pem: pem.utf8, name: "AuthKey.p8")
      return nil
    } catch {
      return error
    }
  }

  /// Runs with a file of these contents and permissions.
  private func problemOfFile(_ contents: String, mode: Int) throws -> ClientSecretKeyError? {
    let folder = try TemporaryDirectory()
    let path = try folder.write(contents, to: "AuthKey.p8", mode: mode)
    do throws(ClientSecretKeyError) {
      _ = try ClientSecretKey(contentsOfFile: path)
      return nil
    } catch {
      #expect(error.message.hasPrefix(path))
      return error
    }
  }

  @Test("A .p8 file is read in Apple's form, also with other line ends and text around it")
  func accepted() {
    #expect(problem(pem) == nil)
    #expect(problem(pem + "\n\n") == nil)
    #expect(problem(pem.replacingOccurrences(of: "\n", with: "\r\n")) == nil)
  }

  @Test("A .p8 file with other content is refused, and the error names the content")
  func otherKinds() {
    #expect(problem("") == .notAKey("AuthKey.p8"))
    #expect(problem("not a key") == .notAKey("AuthKey.p8"))
    #expect(problem("\u{FEFF}\u{0}") == .notAKey("AuthKey.p8"))
    #expect(problem(String(repeating: "x", count: 100_000)) == .notAKey("AuthKey.p8"))
    let publicKey = P256.Signing.PrivateKey().publicKey.pemRepresentation
    #expect(problem(publicKey) == .otherKind("AuthKey.p8", label: "PUBLIC KEY"))
    let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(problem(certificate) == .otherKind("AuthKey.p8", label: "CERTIFICATE"))
    let encrypted = pem.replacingOccurrences(of: "PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY")
    #expect(problem(encrypted) == .encrypted("AuthKey.p8"))
    let odd = pem.replacingOccurrences(of: "PRIVATE KEY", with: "EVIL\u{1B}[31m KEY")
    #expect(problem(odd) == .notAKey("AuthKey.p8"))
  }

  @Test("A .p8 file with a key of another curve, an RSA key or a damaged one is refused")
  func otherCurves() throws {
    #expect(problem(P384.Signing.PrivateKey().pemRepresentation) == .notP256("AuthKey.p8"))
    #expect(problem(try SigningKey.sharedRSA.get().pkcs8PEMRepresentation) == .notP256("AuthKey.p8"))
    let lines = pem.split(separator: "\n")
    #expect(problem("\(lines[0])\n\(lines[1])\n\(lines[lines.count - 1])\n") == .notP256("AuthKey.p8"))
    #expect(problem("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n") == .notP256("AuthKey.p8"))
  }

  @Test("A .p8 file with \\n instead of line breaks is refused, and the error says so")
  func escapedLineBreaks() throws {
    let pasted = pem.replacingOccurrences(of: "\n", with: "\\n")
    for text in [pasted, "\"\(pasted)\"\n", pasted + "\n"] {
      let found = try #require(problem(text))
      #expect(found == .escapedLineBreaks("AuthKey.p8"))
      #expect(found.message == "AuthKey.p8 has \\n instead of line breaks")
      #expect(found.remedy.contains("sed 's/\\\\n/\\n/g' FILE"))
    }
  }

  @Test("A .p8 file that only some users may read is accepted", arguments: [0o600, 0o400, 0o440, 0o640])
  func privateFile(mode: Int) throws {
    #expect(try problemOfFile(pem, mode: mode) == nil)
  }

  @Test(
    "A key file that others have access to, or that its group may write, is refused",
    arguments: [0o644, 0o604, 0o444, 0o601, 0o602, 0o620, 0o660])
  func publicFile(mode: Int) throws {
    guard case .file(let error) = try problemOfFile(pem, mode: mode) else {
      Issue.record("read anyway")
      return
    }
    #expect(error.reason == .exposed(mode: UInt32(mode)))
    #expect(ClientSecretKeyError.file(error).remedy.contains("chmod g-w,o="))
  }

  @Test("A .p8 path to a directory, to no file or to an endless file is refused")
  func strangeFiles() throws {
    for path in ["/", "/nowhere/AuthKey.p8", "", "/dev/zero"] {
      #expect(throws: ClientSecretKeyError.self) { try ClientSecretKey(contentsOfFile: path) }
    }
    guard case .file(let error) = try problemOfFile(String(repeating: "x", count: 100_000), mode: 0o600),
      case .tooLong = error.reason
    else {
      Issue.record("read to the end")
      return
    }
  }

  @Test("Every error of a .p8 file says what to do")
  func remedies() {
    let problems: [ClientSecretKeyError] = [
      .file(PrivateFileError(path: "f", reason: .missing)),
      .file(PrivateFileError(path: "f", reason: .exposed(mode: 0o644))), .notAKey("f"), .encrypted("f"),
      .otherKind("f", label: "PUBLIC KEY"), .notP256("f"), .escapedLineBreaks("f"),
    ]
    for problem in problems {
      #expect(problem.message.hasPrefix("f "))
      #expect(!problem.remedy.isEmpty)
    }
    let exposed = ClientSecretKeyError.file(PrivateFileError(path: "/my keys/f", reason: .exposed(mode: 0o644)))
    #expect(exposed.remedy.contains("chmod g-w,o= \"/my keys/f\""))
    let label = ClientSecretKeyError.otherKind("f", label: "EC PRIVATE KEY")
    #expect(label.message == "f holds \"EC PRIVATE KEY\", not the private key that Apple gave out")
  }
}
