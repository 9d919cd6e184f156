internal import DataPlane
internal import FoundationEssentials
internal import Pages
internal import Sessions

/// The JSON of a signed-in user, at `GET session`.
struct SessionDescription: Encodable {
  private let subject: String
  private let name: String?
  private let givenName: String?
  private let familyName: String?
  private let email: String?
  private let emailVerified: Bool?
  private let isPrivateEmail: Bool?
  private let organizationID: String?
  private let groups: [String]
  private let sessionID: String
  private let clientID: String
  private let began: Int64
  private let ends: Int64
  private let token: String?

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case name
    case givenName = "given_name"
    case familyName = "family_name"
    case email
    case emailVerified = "email_verified"
    case isPrivateEmail = "is_private_email"
    case organizationID = "org_id"
    case groups
    case sessionID = "session_id"
    case clientID = "client_id"
    case began, ends
    case token = "session_token"
  }

  /// - Parameters:
  ///   - groups: the names of the user's groups, sorted.
  ///   - token: the bearer token, if an app is to receive it.
  init(_ snapshot: SessionSnapshot, groups: [String], token: String? = nil) {
    let (session, account) = (snapshot.session, snapshot.account)
    subject = account.subject.text
    name = account.name?.text
    givenName = account.name?.given
    familyName = account.name?.family
    email = account.claims.email
    emailVerified = account.claims.emailVerified
    isPrivateEmail = account.claims.isPrivateEmail
    organizationID = account.claims.organizationID
    self.groups = groups
    sessionID = session.handle.text
    clientID = session.clientID
    began = session.began.wallClock / 1_000
    ends = session.ends.wallClock / 1_000
    self.token = token
  }

  /// The answer of `GET session`: 200 with the JSON.
  static func response(_ snapshot: SessionSnapshot, groups: [String], token: String? = nil) -> ControlResponse {
    .json(of: SessionDescription(snapshot, groups: groups, token: token))
  }
}
