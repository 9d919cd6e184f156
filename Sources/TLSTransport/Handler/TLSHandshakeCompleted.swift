/// The parameters negotiated by a handshake. Fired through the pipeline as a user inbound event, before any plaintext.
package struct TLSHandshakeCompleted: Sendable, Equatable {
  /// The application protocol (ALPN, RFC 7301), nil when none was negotiated.
  package let negotiatedProtocol: String?
  /// The version of TLS.
  package let version: TLSVersion
  /// OpenSSL's name of the cipher suite, for example `TLS_AES_256_GCM_SHA384`.
  package let cipherSuite: String
  /// Whether an earlier session was resumed.
  package let isResumed: Bool
  /// The host name that the client requested (SNI, RFC 6066, 3), as received, not validated. Nil without one.
  package let serverName: String?
}
