/// A finding of the doctor.
package struct DoctorFinding: Sendable, Equatable {
  /// The subject: `apple key`, `clock`, `store`.
  package let subject: String
  /// Whether something has to be done.
  package let status: Status
  /// The observation.
  package let seen: String
  /// The remedy; nil if there is nothing to do.
  package let remedy: String?

  /// The severity.
  package enum Status: Sendable, Equatable {
    /// Examined, and in order.
    case ok
    /// It works, but needs attention.
    case warning
    /// Signing in fails, or will fail, until this is fixed.
    case failure
  }

  static func ok(_ subject: String, _ seen: String) -> DoctorFinding {
    DoctorFinding(subject: subject, status: .ok, seen: seen, remedy: nil)
  }

  static func warning(_ subject: String, _ seen: String, _ remedy: String?) -> DoctorFinding {
    DoctorFinding(subject: subject, status: .warning, seen: seen, remedy: remedy)
  }

  static func failure(_ subject: String, _ seen: String, _ remedy: String?) -> DoctorFinding {
    DoctorFinding(subject: subject, status: .failure, seen: seen, remedy: remedy)
  }
}
