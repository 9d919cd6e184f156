import Foundation
import TemporaryDirectoryTesting

/// A server's certificate, in PEM.
package struct ServerCertificate: Sendable {
  let chain: String
  let key: String

  /// A certificate and its key; not checked before the server starts with them.
  package init(chain: String, key: String) {
    self.chain = chain
    self.key = key
  }
}

/// Somebody who issues certificates, by the command of OpenSSL; gone with the value.
package final class CertificateAuthority: Sendable {
  private let folder: TemporaryDirectory

  /// Makes a key and a certificate of its own, valid for nine days, in a temporary folder.
  package init() throws {
    folder = try TemporaryDirectory()
    try openssl("req -x509 \(Self.key) -days 9 -subj /CN=authority -keyout FOLDER/ca.key -out FOLDER/ca.pem")
  }

  /// The file of its own certificate.
  package var root: String { folder.file("ca.pem") }

  /// A certificate for a host of this name.
  package func certificate(of name: String) throws -> ServerCertificate {
    try folder.write("subjectAltName=DNS:\(name)\n", to: "extensions")
    try openssl("req -new \(Self.key) -subj /CN=\(name) -keyout FOLDER/server.key -out FOLDER/server.csr")
    try openssl(
      "x509 -req -in FOLDER/server.csr -CA FOLDER/ca.pem -CAkey FOLDER/ca.key -CAcreateserial -days 9 "
        + "-extfile FOLDER/extensions -out FOLDER/server.pem")
    return ServerCertificate(
      chain: try String(contentsOfFile: folder.file("server.pem"), encoding: .utf8),
      key: try String(contentsOfFile: folder.file("server.key"), encoding: .utf8))
  }

  private static let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

  private func openssl(_ arguments: String) throws {
    let words = arguments.split(separator: " ").map { $0.replacingOccurrences(of: "FOLDER", with: folder.path) }
    try ServerChild.run(["/usr/bin/openssl"] + words)
  }
}
