/// A warning about the dates of a certificate, in seconds since 1970.
package enum TLSCertificateWarning: Sendable, Equatable {
  /// Past its notAfter (RFC 5280, 4.1.2.5).
  case expired(since: Int64)
  /// Before its notBefore: issued for later, or a clock that is slow.
  case notYetValid(until: Int64)
  /// Valid, but for less time than the notice that the caller asks for.
  case expiresSoon(at: Int64)

  /// Whether browsers refuse the certificate.
  package var isRefusal: Bool { if case .expiresSoon = self { false } else { true } }

  /// The defect, as a clause for a log message or a finding of the doctor.
  package var problem: String {
    switch self {
    case .expired: "the certificate has expired, browsers refuse it"
    case .notYetValid: "the certificate is not valid yet, browsers refuse it"
    case .expiresSoon: "the certificate expires soon"
    }
  }

  /// An instruction to the operator, as a clause that can follow ``problem``.
  package var remedy: String {
    switch self {
    case .expired, .expiresSoon: "renew it"
    case .notYetValid: "check the clock, or wait"
    }
  }
}

extension TLSIdentity {
  func warning(at now: Int64, notice: Int64) -> TLSCertificateWarning? {
    if now >= validity.upperBound { return .expired(since: validity.upperBound) }
    if now < validity.lowerBound { return .notYetValid(until: validity.lowerBound) }
    // Neither side can overflow: dates of certificates have four-digit years, and now is between two of them.
    return validity.upperBound - now < notice ? .expiresSoon(at: validity.upperBound) : nil
  }
}
