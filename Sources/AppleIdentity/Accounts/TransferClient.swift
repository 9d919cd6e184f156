internal import HTTPTypes
internal import Secrets
internal import WebFormats

/// The client of the transfer of users of an application to another team: `POST {base}/auth/usermigrationinfo`.
///
/// The team that gives the application away asks for each user's `transfer_sub`; when the application has moved, the
/// team that received it exchanges each for the user's `sub` there. Good for 60 days.
///
/// Source: "Transferring your apps and users to another team" and "Bringing new apps and users into your team",
/// developer.apple.com.
package struct TransferClient: Sendable {
  private let call: AppleCall

  init(call: AppleCall) {
    self.call = call
  }

  /// Requests the permit to transfer users, which both directions need: valid for about an hour.
  package func authorize(clientID: String) async throws(TransferError) -> TransferPermit {
    let form = [(name: "grant_type", value: "client_credentials"), (name: "scope", value: "user.migration")]
    let answer = try await ask("/auth/token", clientID: clientID, form: form)
    guard let token = answer["access_token"]?.text, Self.isToken(token) else { throw .malformed("no access token") }
    return TransferPermit(token: Secret(token), clientID: clientID)
  }

  /// Requests the user's transfer identifier for another team. For the team that transfers the application.
  package func transferSubject(
    of subject: String, toTeam team: String, by permit: TransferPermit
  ) async throws(TransferError) -> String {
    let form = [(name: "sub", value: subject), (name: "target", value: team)]
    let answer = try await ask("/auth/usermigrationinfo", clientID: permit.clientID, form: form, permit)
    guard let transferSubject = answer["transfer_sub"]?.text, SignedClaims.isSubject(transferSubject) else {
      throw .malformed("no transfer_sub")
    }
    return transferSubject
  }

  /// Requests the user's new identifier. For the team that received the application.
  package func user(
    behind transferSubject: String, by permit: TransferPermit
  ) async throws(TransferError) -> TransferredUser {
    let form = [(name: "transfer_sub", value: transferSubject)]
    let answer = try await ask("/auth/usermigrationinfo", clientID: permit.clientID, form: form, permit)
    guard let subject = answer["sub"]?.text, SignedClaims.isSubject(subject) else { throw .malformed("no sub") }
    let claims = IdentityClaims(payload: answer)
    return TransferredUser(subject: subject, email: claims.email, isPrivateEmail: claims.isPrivateEmail)
  }

  private func ask(
    _ path: String, clientID: String, form: [(name: String, value: String)], _ permit: TransferPermit? = nil
  ) async throws(TransferError) -> [String: StrictJSON] {
    switch await call.post(path, clientID: clientID, form: form, bearer: permit?.token.exposed) {
    case .succeeded(let body):
      guard let object = try? AppleCall.object(of: body) else { throw .malformed("no JSON object") }
      return object
    case .refused(let refusal, _): throw .refused(refusal)
    case .trouble(let trouble): throw .appleTrouble(trouble)
    case .notSent(let reason): throw .notSent(reason: reason)
    case .noSecret(let problem): throw .noSecret(problem)
    }
  }

  /// Whether the text is a valid `Bearer` token (RFC 6750, 2.1).
  private static func isToken(_ text: String) -> Bool {
    (1...4_096).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

/// Apple's permit to transfer the users of one application.
package struct TransferPermit: Sendable {
  let token: Secret<AppleSecretKind.TransferPermit>
  /// The client that it is for.
  package let clientID: String
}

/// A user as the receiving team knows them.
package struct TransferredUser: Sendable, Equatable {
  /// `sub`, in the receiving team.
  package let subject: String
  /// The address; an address of Apple's relay differs for each team.
  package let email: String?
  /// `is_private_email`: whether it is one.
  package let isPrivateEmail: Bool?
}

/// The reason why Apple returned no identifier.
package enum TransferError: Error, Sendable, Equatable {
  /// 4xx with an error code: about this user, or our own credentials.
  case refused(OAuthError)
  /// Throttled, or an error at Apple: to be retried later.
  case appleTrouble(AppleServiceError)
  /// 200 without the requested identifier.
  case malformed(String)
  /// Cannot have reached Apple.
  case notSent(reason: String)
  /// We could not make a client secret.
  case noSecret(ClientSecretMintError)

  /// Whether the error concerns this user only, so that others can be processed.
  package var isAboutOneUser: Bool {
    if case .refused(let refusal) = self {
      refusal.code == .invalidRequest || refusal.code == .invalidGrant
    } else {
      false
    }
  }

  /// The problem and its remedy.
  package var message: String {
    switch self {
    case .refused(let refusal): "\(refusal.message): \(refusal.remedy)"
    case .appleTrouble(let trouble): "\(trouble.message): try again"
    case .malformed(let what): "Apple's answer makes no sense (\(what)): try again"
    case .notSent(let reason): "Apple could not be reached (\(reason)): try again"
    case .noSecret(let problem): problem.message
    }
  }
}
