import TemporaryDirectoryTesting
import Testing

@testable import DataPlane

@Suite("Certificates for an application over TLS")
struct UpstreamCertificatesTests {
  /// A certificate of an authority, for nothing else.
  private static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBdjCCARugAwIBAgIUNQuirqJDdwts67n+z1NmPGBz5FswCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwEVGVzdDAgFw0yNjExMjkyMDQxMzJaGA8yMTI2MTEwNTIwNDEz
    MlowDzENMAsGA1UEAwwEVGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPQn
    EHyq+dG2PJKOOYwU8QGAtkEK2FrtfqL2XONzyFrSnnf052JoXxF5pSSE77rJ9INX
    XnLetO9YWuOBKHR880qjUzBRMB0GA1UdDgQWBBQseB+pEgfUpQ+OSig5Cj3KcqU7
    yjAfBgNVHSMEGDAWgBQseB+pEgfUpQ+OSig5Cj3KcqU7yjAPBgNVHRMBAf8EBTAD
    AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDR/iODu2QNivNU2N1eUwiHMd9L8iAk8pCi
    GxULJKdpewIhAJeszvi5gdlEhleK3/IuuALOap5XbXAxoUWrC20+t99J
    -----END CERTIFICATE-----

    """

  @Test("Certificates are those of the connections until a file changes, and an invalid file is an error")
  func present() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(Self.authority, to: "authority.pem")
    var settings = UpstreamSettings(addresses: [.tcp(host: "127.0.0.1", port: 9, tls: true)])
    settings.tls.authorityFile = file
    let upstream = try UpstreamGroup(settings)
    #expect(try upstream.hasPresentCertificates())
    try folder.write(Self.authority + Self.authority, to: "authority.pem")
    #expect(try !upstream.hasPresentCertificates())
    #expect(try !upstream.hasPresentCertificates(), "asking changes nothing")
    try folder.write("no certificate", to: "authority.pem")
    #expect(throws: (any Error).self) { try upstream.hasPresentCertificates() }
  }
}
