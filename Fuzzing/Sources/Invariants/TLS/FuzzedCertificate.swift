import TemporaryDirectoryTesting

/// A certificate for fuzz.test and its key, made for the fuzzer: it protects nothing.
enum FuzzedCertificate {
  /// Calls `body` with the paths of the certificate and the key, which the gateway reads from files.
  static func withFiles<Result>(_ body: (_ certificate: String, _ key: String) throws -> Result) throws -> Result {
    let folder = try TemporaryDirectory()
    defer { folder.remove() }
    return try body(folder.write(certificate + "\n", to: "tls.pem"), folder.write(key + "\n", to: "tls.key"))
  }

  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBizCCATGgAwIBAgIUf4UUmWE4TDHSdwfyjDhuZwxvxVswCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwEZnV6ejAgFw0yNjExMjExMjE4MzNaGA8yMTI2MTAyODEyMTgz
    M1owDzENMAsGA1UEAwwEZnV6ejBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM5g
    L/XIwNR41EUG9SzRLt/YBYv8qjg9d7mMaVa0a0jOJBtftaTpkYMzzGyzxJZo10+V
    sZghKZAhEn5/QN9fwhKjaTBnMB0GA1UdDgQWBBQGH87112VcB+tcG6Pb2BeDDHcd
    FjAfBgNVHSMEGDAWgBQGH87112VcB+tcG6Pb2BeDDHcdFjAPBgNVHRMBAf8EBTAD
    AQH/MBQGA1UdEQQNMAuCCWZ1enoudGVzdDAKBggqhkjOPQQDAgNIADBFAiAb15rh
    aEYQqdI/bQ91+IzpnjcoRHEF/KXzQgVq0RRNmQIhAPKamTW9+vdotocYHJ2Jac7L
    bJWu52wTC+kMhIx9S9mT
    -----END CERTIFICATE-----
    """

  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBXAohsBhMfcVYrEa
    jYK6xztrOyjK/OAqnnN/rp5kQEqhRANCAATOYC/1yMDUeNRFBvUs0S7f2AWL/Ko4
    PXe5jGlWtGtIziQbX7Wk6ZGDM8xss8SWaNdPlbGYISmQIRJ+f0DfX8IS
    -----END PRIVATE KEY-----
    """
}
