/// Everything that can be said instead of the page that was asked for. The raw value is `error` of the JSON form.
package enum PageFailure: String, Sendable, CaseIterable {
  // Signing in
  /// Nobody is signed in, and the caller is not sent to sign in (fetch, or as the route says).
  case signInRequired = "sign_in_required"
  /// The sign-in is too old for this, or has to be repeated for another reason, and the caller is not sent to sign in.
  case reauthenticationRequired = "reauthentication_required"
  /// A form was submitted without a session, and its fields were not passed on.
  case formNotSent = "form_not_sent"
  /// The session ended, or became necessary, before all of a form had come: the application has a part of it at most.
  case formIncomplete = "form_incomplete"
  /// The session ended, or became necessary, after a form had been passed on, and before the application answered.
  case formUnanswered = "form_unanswered"
  /// The user pressed Cancel at Apple's.
  case cancelled = "sign_in_cancelled"
  /// The user, who is signed in, pressed Cancel there.
  case cancelledAgain = "new_sign_in_cancelled"
  /// The attempt was begun too long ago.
  case attemptExpired = "attempt_expired"
  /// The answer belongs to no attempt of this browser: state or cookie is missing or another's.
  case attemptUnknown = "attempt_unknown"
  /// The attempt has been used up.
  case attemptUsed = "attempt_used"
  /// The attempt has been used up, or displaced by newer ones, without signing in this browser as far as it knows.
  case attemptEnded = "attempt_ended"
  /// Apple's answer does not hold what was asked for, or its token does not verify.
  case answerInvalid = "answer_invalid"
  /// Apple refused our request: an operator error.
  case appleRefused = "apple_refused"
  /// Apple cannot be reached, or returns errors.
  case appleUnreachable = "apple_unreachable"
  /// The session store is unavailable.
  case storeUnavailable = "store_unavailable"

  // Policy
  /// The user may not see this.
  case forbidden = "forbidden"
  /// Nobody may see this.
  case closed = "closed"
  /// The client's address is not in the networks of the route.
  case network
  /// The user is banned.
  case banned
  /// There are too many open requests for access.
  case accessRequestsFull = "access_requests_full"
  /// An invitation that admits nobody: unknown, used up, expired or revoked, always said in the same words.
  case invitationInvalid = "invitation_invalid"
  /// The user may not see this, and hid the address that might be listed.
  case emailHidden = "email_hidden"
  /// The user may not see this, and has no address.
  case emailMissing = "email_missing"
  /// The user may not see this, because the address is not verified.
  case emailNotVerified = "email_not_verified"
  /// Another site asked for what only our own pages may ask for.
  case crossSite = "cross_site"

  // HTTP
  /// The request is malformed: 400.
  case badRequest = "bad_request"
  /// There is nothing at the path: 404.
  case notFound = "not_found"
  /// The endpoint does not have the method, or it is CONNECT or TRACE: 405.
  case methodNotAllowed = "method_not_allowed"
  /// The request did not arrive in time: 408.
  case requestTimeout = "request_timeout"
  /// The application needs the length of the body, which is too large to be buffered: 411.
  case lengthRequired = "length_required"
  /// The body is larger than the route or the endpoint allows: 413.
  case contentTooLarge = "content_too_large"
  /// The request target is longer than the limit: 414.
  case targetTooLong = "uri_too_long"
  /// The endpoint does not read bodies of this type: 415.
  case unsupportedMediaType = "unsupported_media_type"
  /// `Expect` has something else than `100-continue`: 417.
  case expectationFailed = "expectation_failed"
  /// The authority is not one of this gateway's hosts: 421.
  case misdirected = "misdirected_request"
  /// The client is over a limit: 429, with ``retryAfter``.
  case tooManyRequests = "too_many_requests"
  /// The request header is larger than the limits: 431.
  case headTooLarge = "header_fields_too_large"
  /// A failure of the gateway itself: 500.
  case internalError = "internal_error"
  /// A method or transfer coding that the gateway does not know: 501.
  case notImplemented = "not_implemented"
  /// The application cannot be reached, or its response is malformed: 502.
  case badGateway = "bad_gateway"
  /// The gateway cannot serve the request now: 503.
  case unavailable = "service_unavailable"
  /// The application did not answer in time: 504.
  case gatewayTimeout = "gateway_timeout"
  /// The version of HTTP is neither 1.0, 1.1 nor 2: 505.
  case versionNotSupported = "http_version_not_supported"

  /// The status code of the answer (RFC 9110, 15).
  package var status: Int {
    switch self {
    case .signInRequired, .formNotSent, .formIncomplete, .formUnanswered, .reauthenticationRequired: 401
    case .cancelled, .cancelledAgain, .forbidden, .closed, .emailHidden, .emailMissing, .emailNotVerified, .crossSite,
      .banned, .network:
      403
    case .attemptExpired, .attemptUnknown, .attemptUsed, .attemptEnded, .answerInvalid, .badRequest: 400
    case .notFound, .invitationInvalid: 404
    case .methodNotAllowed: 405
    case .requestTimeout: 408
    case .lengthRequired: 411
    case .contentTooLarge: 413
    case .targetTooLong: 414
    case .unsupportedMediaType: 415
    case .expectationFailed: 417
    case .misdirected: 421
    case .tooManyRequests: 429
    case .headTooLarge: 431
    case .internalError: 500
    case .notImplemented: 501
    case .appleRefused, .badGateway: 502
    case .appleUnreachable, .storeUnavailable, .unavailable, .accessRequestsFull: 503
    case .gatewayTimeout: 504
    case .versionNotSupported: 505
    }
  }

  /// The seconds after which another attempt is worthwhile (`Retry-After`); nil if unknown.
  package var retryAfter: Int? {
    switch self {
    case .appleUnreachable, .tooManyRequests: 30
    case .storeUnavailable, .unavailable: 5
    default: nil
    }
  }

  /// The links that lead on, the first the obvious one.
  var ways: [RecoveryAction] {
    switch self {
    case .signInRequired, .formNotSent, .formIncomplete, .formUnanswered, .cancelled: [.signIn]
    case .reauthenticationRequired: [.newSignIn]
    case .attemptExpired, .attemptUnknown, .attemptEnded, .answerInvalid, .appleRefused, .appleUnreachable:
      [.signInAgain]
    case .attemptUsed: [.proceed]
    case .cancelledAgain: [.proceed, .startPage]
    case .forbidden, .emailHidden, .emailMissing, .emailNotVerified, .banned: [.otherAccount, .startPage]
    case .storeUnavailable, .requestTimeout, .tooManyRequests, .internalError, .badGateway, .unavailable,
      .gatewayTimeout:
      [.tryAgain]
    case .network: [.tryAgain, .startPage]
    case .closed, .badRequest, .notFound, .methodNotAllowed, .lengthRequired, .contentTooLarge, .targetTooLong,
      .unsupportedMediaType,
      .expectationFailed, .headTooLarge, .notImplemented, .crossSite, .versionNotSupported,
      .accessRequestsFull, .invitationInvalid:
      [.startPage]
    case .misdirected: []
    }
  }

  /// A link that leads on from a failure.
  enum RecoveryAction: Sendable, Equatable {
    case signIn, signInAgain
    /// A sign-in with Apple, whatever session there is.
    case newSignIn
    case otherAccount, tryAgain, proceed, startPage
  }
}
