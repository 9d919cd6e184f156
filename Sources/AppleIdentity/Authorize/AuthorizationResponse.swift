internal import Secrets
package import WebFormats

/// Apple's authorization response by way of the browser, in any response mode: a form, a query, or a fragment.
///
/// Nothing in it is verified. The caller compares `state` with its own before it uses anything else.
package enum AuthorizationResponse: Sendable, Equatable {
  /// The user authorized the sign-in.
  case success(Success)
  /// The user cancelled, or Apple refused.
  case error(ErrorResponse)

  /// The success response. `user` is present only the first time that this user authorizes the app.
  package struct Success: Sendable, Equatable {
    /// The code, to be exchanged at the token endpoint within five minutes.
    package let code: AuthorizationCode
    /// With `code id_token` only.
    package let identityToken: UnverifiedIdentityToken?
    /// The `state` that was sent along.
    package let state: String
    /// The name as the browser submitted it, sanitized. It is saved before the code is exchanged.
    package let user: SubmittedUser?
    /// The reason why a `user` field could not be used. The sign-in continues without a name.
    package let userProblem: SubmittedUserError?
  }

  /// The error response (RFC 6749, 4.1.2.1).
  package struct ErrorResponse: Sendable, Equatable {
    /// Apple's error code, or any text of another sender: printable ASCII without spaces, at most 128 bytes.
    package let error: String
    /// The `state` that was sent along, where it came back.
    package let state: String?

    /// The one documented code: the user pressed Cancel.
    package var isCancelled: Bool { error.utf8.elementsEqual("user_cancelled_authorize".utf8) }
  }

  /// The `state` that was sent along; `nil` if an error response came without.
  package var state: String? {
    switch self {
    case .success(let response): response.state
    case .error(let response): response.state
    }
  }

  /// Reads a response. Repeated fields, also unknown ones, are refused: another reader might use the other value.
  package static func parse(_ form: FormFields) throws(AuthorizationResponseError) -> AuthorizationResponse {
    try refuseRepetition(form)
    let state = try text("state", in: form, maximumBytes: Limit.state)
    if let error = try text("error", in: form, maximumBytes: Limit.error) {
      guard form.values(of: "code").isEmpty, form.values(of: "id_token").isEmpty else { throw .contradictory }
      return .error(ErrorResponse(error: error, state: state))
    }
    guard let code = try text("code", in: form, maximumBytes: Limit.code) else { throw .missing("code") }
    guard let state else { throw .missing("state") }
    let token = try text("id_token", in: form, maximumBytes: Limit.identityToken)
    let (user, userProblem) = submittedUser(in: form)
    return .success(
      Success(
        code: AuthorizationCode(code), identityToken: token.map { UnverifiedIdentityToken($0) }, state: state,
        user: user, userProblem: userProblem))
  }

  /// Bounds of the single fields, in bytes. A code is about 60, an identity token about 1000.
  private enum Limit {
    static let state = 1024
    static let error = 128
    static let code = 2048
    static let identityToken = IdentityTokenVerifier.maximumBytes
  }

  private static func refuseRepetition(_ form: FormFields) throws(AuthorizationResponseError) {
    var seen: Set<[UInt8]> = []
    for field in form.fields {
      guard seen.insert(field.name).inserted else {
        throw .repeated(LogText.sanitized(String(decoding: field.name, as: UTF8.self), maximumBytes: 40))
      }
    }
  }

  /// The text of a field that Apple writes in printable ASCII without spaces; `nil` if it is absent or empty.
  private static func text(
    _ name: String, in form: FormFields, maximumBytes: Int
  ) throws(AuthorizationResponseError) -> String? {
    guard let bytes = form.values(of: name).first, !bytes.isEmpty else { return nil }
    guard bytes.count <= maximumBytes else { throw .tooLong(name) }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformed(name) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func submittedUser(in form: FormFields) -> (SubmittedUser?, SubmittedUserError?) {
    guard let json = form.values(of: "user").first, !json.isEmpty else { return (nil, nil) }
    do throws(SubmittedUserError) {
      return (try SubmittedUser(json: json), nil)
    } catch {
      return (nil, error)
    }
  }
}

/// The reason why a response was refused. Always the sender's fault; the sender need not be Apple.
package enum AuthorizationResponseError: Error, Sendable, Equatable {
  /// A field is missing.
  case missing(String)
  /// A field is repeated.
  case repeated(String)
  /// A field is longer than anything of Apple's.
  case tooLong(String)
  /// Bytes that Apple does not use in this field.
  case malformed(String)
  /// An error and a code at once.
  case contradictory

  /// The problem of the response.
  package var message: String {
    switch self {
    case .missing(let name): "the field \(name) is missing"
    case .repeated(let name): "the field \(name) is there more than once"
    case .tooLong(let name): "the field \(name) is too long"
    case .malformed(let name): "the field \(name) has characters that do not belong there"
    case .contradictory: "an error and a code came together"
    }
  }
}
