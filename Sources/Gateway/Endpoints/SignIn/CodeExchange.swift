internal import AppleIdentity
internal import DataPlane
internal import Logging
internal import Pages

/// The exchange of authorization codes at Apple, as sign-ins see it: a failed one is logged, reported to the health of
/// Apple, and turned into the failure of the sign-in.
struct CodeExchange: Sendable {
  let apple: AppleIdentityProvider
  let monitor: AppleMonitor
  let failures: SignInFailureLog
  let logger: Logger

  /// The tokens of a successful exchange.
  /// - Throws: any other outcome, after it was logged and reported to health.
  func tokens(
    of outcome: ExchangeOutcome, clientID: String, _ request: ControlRequest
  ) throws(SignInError) -> TokenGrant {
    monitor.note(outcome, clientID: clientID, by: apple)
    switch outcome {
    case .granted(let tokens): return tokens
    case .refused: throw SignInError(.answerInvalid, "code_refused")
    case .mismatch(let mismatch):
      let error = SignInError(.answerInvalid, "tokens_disagree")
      if let metadata = admit(error, mismatch.message, request) {
        logger.warning("identity tokens of a sign-in do not match", metadata: metadata)
      }
      throw error
    case .unverified(let rejection) where rejection.isAppleTrouble:
      let error = SignInError(.appleUnreachable, "apple_keys")
      if let metadata = admit(error, rejection.message, request) {
        logger.warning("sign-in failed: Apple's keys are unavailable", metadata: metadata)
      }
      throw error
    case .unverified(let rejection):
      let error = SignInError(.answerInvalid, "identity_token")
      if let metadata = admit(error, rejection.message, key: rejection.logKey, request) {
        logger.warning("identity token rejected", metadata: metadata)
      }
      throw error
    case .misconfigured(let refusal):
      let error = SignInError(.appleRefused, refusal.code.rawValue)
      let metadata = failures.admit(
        error.reason, ["error": "\(error.reason)", "remedy": "\(refusal.remedy)", "request": "\(request.requestID)"])
      if let metadata {
        logger.error("Apple rejects our credentials, sign-in is unavailable", metadata: metadata)
      }
      throw error
    case .noSecret(let problem):
      let error = SignInError(.internalError, "client_secret")
      if let metadata = admit(error, problem.message, request) {
        logger.error("creating the client secret failed, sign-in is unavailable", metadata: metadata)
      }
      throw error
    case .appleTrouble(let trouble):
      let error = SignInError(.appleUnreachable, "apple_trouble")
      if let metadata = admit(error, trouble.message, key: trouble.logKey, request) {
        logger.warning("sign-in failed: error response from Apple", metadata: metadata)
      }
      throw error
    case .notSent(let reason):
      let error = SignInError(.appleUnreachable, "apple_unreachable")
      if let metadata = admit(error, reason, request) {
        logger.warning("sign-in failed: Apple is unreachable", metadata: metadata)
      }
      throw error
    }
  }

  /// Asks whether a failure may be logged now.
  /// - Parameter key: of the failures that share one limit. Default: the reason.
  /// - Returns: its metadata; nil if it may not.
  private func admit(
    _ error: SignInError, _ reason: String, key: String? = nil, _ request: ControlRequest
  ) -> Logger.Metadata? {
    // The page of the failure shows the same ID.
    failures.admit(error.reason, key: key ?? reason, ["reason": "\(reason)", "request": "\(request.requestID)"])
  }
}
