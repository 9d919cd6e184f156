internal import FoundationEssentials
internal import Sessions

/// `GET /requests`: open requests, oldest first.
package struct RequestsReport: Codable, Sendable, Equatable {
  /// A page of them.
  package let requests: [RequestReport]
  /// The code to go on after; nil at the end.
  package let next: String?
  /// The codes of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// A request for access.
package struct RequestReport: Codable, Sendable, Equatable {
  /// The code that the user reads out, as in `K7QF-3MDP`.
  package let code: String
  /// Apple's `sub`.
  package let subject: String
  /// The display name; nil if Apple sent none.
  package let name: String?
  /// The last known address; nil without one.
  package let email: String?
  /// Apple's `email_verified`; nil if it does not say.
  package let emailVerified: Bool?
  /// Whether it is an address of Apple's relay; nil if Apple does not say.
  package let isPrivateEmail: Bool?
  /// The time of the first request.
  package let asked: String

  private enum CodingKeys: String, CodingKey {
    case code
    case subject = "sub"
    case name, email
    case emailVerified = "email_verified"
    case isPrivateEmail = "is_private_email"
    case asked
  }

  init(_ request: AccessRequest, _ account: Account) {
    code = request.code.text
    subject = request.subject.text
    name = account.name?.text
    email = account.claims.email
    emailVerified = account.claims.emailVerified
    isPrivateEmail = account.claims.isPrivateEmail
    asked = request.asked.rfc3339
  }
}

/// `POST /requests/CODE/admit` and `…/reject`.
package struct DecisionReport: Codable, Sendable, Equatable {
  /// The code of the request.
  package let code: String
  /// Apple's `sub` of the user who asked.
  package let subject: String
  /// The group that the user is in from now on; nil if the request was rejected.
  package let group: String?

  private enum CodingKeys: String, CodingKey {
    case code
    case subject = "sub"
    case group
  }

  init(_ request: AccessRequest, group: String?) {
    code = request.code.text
    subject = request.subject.text
    self.group = group
  }
}
