/// A supported version of TLS.
package enum TLSVersion: String, Sendable, Equatable {
  /// RFC 5246.
  case tls12 = "TLSv1.2"
  /// RFC 8446.
  case tls13 = "TLSv1.3"
}
