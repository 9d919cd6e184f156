import Foundation
import PostgreSQLServerTesting
import Sessions
import Testing
import WaitingTesting

@testable import PostgreSQLSessions

// TLS towards the database, as libpq has it: `sslmode` and its files stand in store.url. The server speaks nothing
// else.
@Suite("TLS towards the database server")
struct TLSTests {
  private func open(_ url: String) async throws -> PostgreSQLSessionStore {
    try await openStore(url, connections: 2, notifies: false)
  }

  /// The address of a fresh database of the server, by its name instead of its number, as certificates have it.
  private func address(_ server: PostgreSQLServer, _ parameters: String) throws -> String {
    try server.makeDatabase().replacing("127.0.0.1", with: "localhost") + "?" + parameters
  }

  @Test("With verify-full and the authority's certificate it is PostgreSQL over TLS, connection by connection")
  func verified() async throws {
    let authority = try CertificateAuthority()
    let server = try await PostgreSQLServer.started(certificate: try authority.certificate(of: "localhost"))
    let url = try address(server, "sslmode=verify-full&sslrootcert=\(authority.root)")
    let store = try await openStore(url, connections: 2)
    let known = try await store.complete(try signIn()).snapshot
    #expect(try await store.find(known.session.handle) == known)
    // The listener's connection too.
    try await eventually("a connection that listens, over TLS like the others") {
      let connections = try server.query(
        """
        SELECT bool_and(ssl), count(*) > 1 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE datname = current_database() AND client_addr IS NOT NULL
        """, at: url)
      return connections == "t|t"
    }
    try await store.close()
  }

  @Test("A server whose certificate has another name, or another authority, is not spoken to; verify-ca wants no name")
  func refused() async throws {
    let (authority, stranger) = (try CertificateAuthority(), try CertificateAuthority())
    let server = try await PostgreSQLServer.started(certificate: try authority.certificate(of: "elsewhere.test"))
    for parameters in [
      "sslmode=verify-full&sslrootcert=\(authority.root)", "sslmode=verify-ca&sslrootcert=\(stranger.root)",
      "sslmode=verify-full&sslrootcert=\(authority.root).missing",
    ] {
      let url = try address(server, parameters)
      let refused = await storeError { _ = try await open(url) }
      #expect(refused?.code == .unavailable, "\(parameters)")
      #expect(refused?.message.contains("cannot be secured as sslmode asks") == true, "\(refused?.message ?? "")")
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
    let authority = try CertificateAuthority()
    let server = try await PostgreSQLServer.started(certificate: try authority.certificate(of: "localhost"))
    let url = try address(server, "sslmode=disable")
    let refused = await storeError { _ = try await open(url) }
    #expect(refused?.code == .denied)
    #expect(refused?.description.contains("no encryption") == true, "\(refused?.description ?? "")")
  }
}
