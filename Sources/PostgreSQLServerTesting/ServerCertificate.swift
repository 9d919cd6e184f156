import Foundation

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
  private let folder: String

  /// Makes a key and a certificate of its own, valid for nine days, in a folder below `/tmp`.
  package init() throws {
    folder = "/tmp/cordon-authority-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try openssl("req -x509 \(Self.key) -days 9 -subj /CN=authority -keyout FOLDER/ca.key -out FOLDER/ca.pem")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// The file of its own certificate.
  package var root: String { "\(folder)/ca.pem" }

  /// A certificate for a host of this name.
  package func certificate(of name: String) throws -> ServerCertificate {
    try Data("subjectAltName=DNS:\(name)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/extensions"))
    try openssl("req -new \(Self.key) -subj /CN=\(name) -keyout FOLDER/server.key -out FOLDER/server.csr")
    try openssl(
      "x509 -req -in FOLDER/server.csr -CA FOLDER/ca.pem -CAkey FOLDER/ca.key -CAcreateserial -days 9 "
        + "-extfile FOLDER/extensions -out FOLDER/server.pem")
    return ServerCertificate(
      chain: try String(contentsOfFile: "\(folder)/server.pem", encoding: .utf8),
      key: try String(contentsOfFile: "\(folder)/server.key", encoding: .utf8))
  }

  private static let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

  private func openssl(_ arguments: String) throws {
    let words = arguments.split(separator: " ").map { $0.replacingOccurrences(of: "FOLDER", with: folder) }
    try ServerChild.run(["/usr/bin/openssl"] + words)
  }
}
