import Foundation
import PostgreSQLServerTesting
import Sessions
import Testing

@testable import PostgreSQLSessions

// TLS towards the database, as libpq has it: `sslmode` and its files stand in store.url. The server speaks nothing else.
@Suite("TLS towards the database server")
struct TLSTests {
  private func open(_ url: String) async throws -> PostgreSQLSessionStore {
    try await PostgreSQLSessionStore(url: url, connections: 2, notifies: false)
  }

  /// The address of a fresh database of the server, by its name instead of its number, as certificates have it.
  private func address(_ server: PostgreSQLServer, _ parameters: String) throws -> String {
    try server.makeDatabase().replacing("127.0.0.1", with: "localhost") + "?" + parameters
  }

  @Test("With verify-full and the authority's certificate it is PostgreSQL over TLS, connection by connection")
  func verified() async throws {
    let authority = try Authority()
    let server = try await PostgreSQLServer.started(certificate: try authority.certificate(of: "localhost"))
    let url = try address(server, "sslmode=verify-full&sslrootcert=\(authority.root)")
    let store = try await PostgreSQLSessionStore(url: url, connections: 2)
    let known = try await store.complete(try signIn()).snapshot
    #expect(try await store.find(known.session.handle) == known)
    // The listener's connection too.
    try await eventually("a connection that listens, over TLS like the others") {
      let connections = try server.query(
        """
        SELECT bool_and(ssl), count(*) > 1 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE datname = current_database() AND client_addr IS NOT NULL
        """, at: url)
      return connections == "t|t" ? () : nil
    }
    try await store.close()
  }

  @Test("A server whose certificate has another name, or another authority, is not spoken to; verify-ca wants no name")
  func refused() async throws {
    let (authority, stranger) = (try Authority(), try Authority())
    let server = try await PostgreSQLServer.started(certificate: try authority.certificate(of: "elsewhere.test"))
    for parameters in [
      "sslmode=verify-full&sslrootcert=\(authority.root)", "sslmode=verify-ca&sslrootcert=\(stranger.root)",
      "sslmode=verify-full&sslrootcert=\(authority.root).missing",
    ] {
      let url = try address(server, parameters)
      let refused = await storeError { _ = try await open(url) }
      #expect(refused?.code == .unavailable, "\(parameters)")
      #expect(refused?.message.contains("sslmode") == true)
      #expect(refused?.description.contains("certificate") == true, "\(refused?.description ?? "")")
      #expect(refused?.description.contains(PostgreSQLServer.password) == false)
    }
    for parameters in ["sslmode=verify-ca&sslrootcert=\(authority.root)", "sslmode=require"] {
      let store = try await open(try address(server, parameters))
      try await store.ping()
      try await store.close()
    }
  }

  @Test("A server that wants TLS does not let in who is told to do without")
  func disabled() async throws {
    let authority = try Authority()
    let server = try await PostgreSQLServer.started(certificate: try authority.certificate(of: "localhost"))
    let url = try address(server, "sslmode=disable")
    let refused = await storeError { _ = try await open(url) }
    #expect(refused?.code == .denied)
    #expect(refused?.description.contains("no encryption") == true, "\(refused?.description ?? "")")
  }
}

/// Somebody who issues certificates, by OpenSSL's command.
private final class Authority {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try openssl("req -x509 \(Self.key) -days 9 -subj /CN=authority -keyout ca.key -out ca.pem")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The file of its own certificate.
  var root: String { folder.appendingPathComponent("ca.pem").path }

  func certificate(of name: String) throws -> ServerCertificate {
    try Data("subjectAltName=DNS:\(name)\n".utf8).write(to: folder.appendingPathComponent("ext"))
    try openssl("req -new \(Self.key) -subj /CN=\(name) -keyout server.key -out server.csr")
    try openssl(
      "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile ext -out server.pem")
    return ServerCertificate(
      chain: try String(contentsOf: folder.appendingPathComponent("server.pem"), encoding: .utf8),
      key: try String(contentsOf: folder.appendingPathComponent("server.key"), encoding: .utf8))
  }

  private static let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

  private func openssl(_ arguments: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
  }
}
