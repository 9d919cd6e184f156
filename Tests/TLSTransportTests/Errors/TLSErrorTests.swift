import Testing

@testable import TLSTransport

@Suite("The meaning of OpenSSL's errors")
struct TLSErrorTests {
  /// `ERR_LIB_SSL`, and other parts of OpenSSL.
  private static let ssl: Int32 = 20
  private static let asn1: Int32 = 13
  private static let evp: Int32 = 6
  /// `X509_V_OK`.
  private static let verified = 0

  private static func meaning(_ library: Int32, _ reason: Int32, verifyResult: Int = Self.verified) -> TLSError {
    TLSError(queue: [OpenSSLError(library: library, reason: reason, text: "text")], verifyResult: verifyResult)
  }

  @Test("An alert of the peer is reported with its number", arguments: [UInt8(40), 42, 70, 80, 112, 120])
  func alerts(_ alert: UInt8) {
    let error = Self.meaning(Self.ssl, 1_000 + Int32(alert))
    #expect(error == (alert == 70 ? .unsupportedVersion : .refusedByPeer(alert: alert, reason: "text")))
    #expect(error.fault == .peer)
  }

  @Test("The certificate is blamed only when it is to blame")
  func verification() {
    #expect(Self.meaning(Self.ssl, 134, verifyResult: 10) == .verificationFailed(.expired))
    #expect(Self.meaning(Self.ssl, 134, verifyResult: 62) == .verificationFailed(.hostNameMismatch))
    #expect(Self.meaning(Self.ssl, 134) == .protocolViolation(reason: "text"))
    #expect(Self.meaning(Self.ssl, 193, verifyResult: 10) == .noSharedParameters(reason: "text"))
    // SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE.
    #expect(Self.meaning(Self.ssl, 199) == .clientCertificateMissing)
  }

  @Test("Damaged bytes of the peer are the peer's fault, failures of the library are ours")
  func faults() {
    #expect(Self.meaning(Self.asn1, 1) == .protocolViolation(reason: "text"))
    #expect(Self.meaning(Self.evp, 1) == .libraryFailure(reason: "text"))
    // ERR_R_INTERNAL_ERROR: the flag of fatal errors, and 259.
    #expect(Self.meaning(Self.ssl, 1 << 18 | 259) == .libraryFailure(reason: "text"))
    #expect(TLSError(queue: [], verifyResult: 0).fault == .us)
    #expect(Self.meaning(Self.evp, 1).fault == .us)
  }

  @Test("The reason of the SSL layer takes precedence over those of lower layers")
  func order() {
    let queue = [
      OpenSSLError(library: Self.asn1, reason: 1, text: "below"),
      OpenSSLError(library: Self.ssl, reason: 193, text: "no shared cipher"),
    ]
    #expect(TLSError(queue: queue, verifyResult: 0) == .noSharedParameters(reason: "no shared cipher"))
  }

  @Test("The oldest entry of the queue comes first, and a drained queue is empty")
  func queue() throws {
    OpenSSLErrorQueue.clear()
    #expect(OpenSSLErrorQueue.drain().isEmpty)
    #expect(OpenSSLErrorQueue.drainText() == "OpenSSL gives no reason")
    let reader = try PEMReader(Array("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".utf8))
    #expect(throws: TLSConfigurationError.self) {
      guard try reader.nextCertificate(file: "a") == nil else { return }
    }
    #expect(OpenSSLErrorQueue.drain().isEmpty)
  }
}
