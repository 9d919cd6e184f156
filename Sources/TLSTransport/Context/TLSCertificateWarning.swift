/// A warning about the dates of a certificate, in seconds since 1970.
package enum TLSCertificateWarning: Sendable, Equatable {
  /// Past its notAfter (RFC 5280, 4.1.2.5).
  case expired(since: Int64)
  /// Before its notBefore: issued for later, or a clock that is slow.
  case notYetValid(until: Int64)
  /// Valid for less than 14 days.
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
  /// The time before the expiry from which on it is reported, in seconds: 14 days.
  private static let notice: Int64 = 1_209_600

  /// The warning for the operator about the dates of the certificate; nil without one.
  /// - Parameter now: the time in seconds since 1970.
  func warning(at now: Int64) -> TLSCertificateWarning? {
    if now >= validity.upperBound { return .expired(since: validity.upperBound) }
    if now < validity.lowerBound { return .notYetValid(until: validity.lowerBound) }
    // Neither side can overflow: dates of certificates have four-digit years, and now is between two of them.
    return validity.upperBound - now < Self.notice ? .expiresSoon(at: validity.upperBound) : nil
  }
}
