import COpenSSL

/// The host name or IP address that a server's certificate must list.
struct ServerName {
  private let text: String

  /// - Parameter text: a host name (a final dot is dropped), or an IPv4 or IPv6 address, with or without brackets.
  init(_ text: String) throws(TLSError) {
    var bytes = Array(text.utf8)
    if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") { bytes = Array(bytes.dropFirst().dropLast()) }
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    // A zero byte would end the name early for OpenSSL, and a dot in front would make it accept a certificate for any
    // name that ends like this (X509_check_host(3)); 253 is the longest name in the DNS.
    guard (1...253).contains(bytes.count), bytes.first != UInt8(ascii: "."),
      bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw .invalidServerName }
    self.text = String(decoding: bytes, as: UTF8.self)
  }

  /// Makes OpenSSL verify the name against the certificate (RFC 9525: subject alternative names only, a wildcard only
  /// as a whole label) and, when it is a name and not an address, send it to the server (SNI, RFC 6066, 3).
  func require(of ssl: OpaquePointer) -> Bool {
    let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
    SSL_set_hostflags(ssl, flags)
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), text) == 1 { return true }
    OpenSSLErrorQueue.clear()
    return SSL_set1_host(ssl, text) == 1 && cordon_SSL_set_tlsext_host_name(ssl, text) == 1
  }
}
