import TLSTransport
import Testing

@testable import DataPlane

@Suite("Reasons of failed handshakes with clients")
struct HandshakeFailureTests {
  @Test("An alert about the listener's certificate is told from any other")
  func alerts() {
    let names: [UInt8: String] = [
      42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
      46: "certificate_unknown", 48: "unknown_ca",
    ]
    for alert in UInt8.min...UInt8.max {
      let failure = HandshakeFailure(TLSError.refusedByPeer(alert: alert, reason: "text"))
      if let name = names[alert] {
        #expect(failure == .certificateRejected(alert: name))
      } else {
        #expect(failure == .refusedByClient, "\(alert)")
      }
    }
  }

  @Test("Plain HTTP is told from other bytes, and a certificate that is missing from one that does not verify")
  func causes() {
    #expect(HandshakeFailure(TLSError.notTLS(isHTTP: true)) == .plainHTTP)
    #expect(HandshakeFailure(TLSError.notTLS(isHTTP: false)) == .notTLS)
    #expect(HandshakeFailure(TLSError.clientCertificateMissing) == .clientCertificateMissing)
    #expect(
      HandshakeFailure(TLSError.verificationFailed(.expired))
        == .clientCertificateRefused("the certificate, or one of its chain, has expired"))
    #expect(HandshakeFailure(TLSError.noSharedParameters(reason: "why")) == .noSharedParameters("why"))
    #expect(HandshakeFailure(TLSError.closedDuringHandshake) == .closed)
    #expect(HandshakeFailure(TLSError.protocolViolation(reason: "why")) == .protocolViolation)
    #expect(HandshakeFailure(TLSError.libraryFailure(reason: "why")) == .libraryFailure)
  }
}
