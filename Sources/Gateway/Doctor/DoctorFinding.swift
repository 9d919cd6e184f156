/// What the doctor saw of one thing.
package struct DoctorFinding: Sendable, Equatable {
  /// What was looked at: `apple key`, `clock`, `store`.
  package let subject: String
  package let status: Status
  /// What was seen.
  package let seen: String
  /// What to do; nil where there is nothing to do.
  package let remedy: String?

  /// How it is.
  package enum Status: Sendable, Equatable {
    case ok
    /// It works, and somebody should look at it.
    case warning
    /// People cannot sign in, or will not be able to, until this is mended.
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
