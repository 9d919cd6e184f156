internal import AppleIdentity
internal import DataPlane
internal import Logging
internal import Pages

/// The exchange of authorization codes at Apple, as sign-ins see it: a failed one is logged, reported to the health of
/// Apple, and turned into the failure of the sign-in.
struct CodeExchange: Sendable {
  let apple: AppleIdentityProvider
  let monitor: AppleMonitor
  let logger: Logger

  /// The tokens of a successful exchange.
  /// - Throws: any other outcome, after it was logged and reported to health.
  func tokens(
    of outcome: ExchangeOutcome, clientID: String, _ request: ControlRequest
  ) throws(SignInError) -> TokenGrant {
    // The page of the failure shows the same ID.
    let requestID: Logger.MetadataValue = "\(request.requestID)"
    monitor.note(outcome, clientID: clientID, by: apple)
    switch outcome {
    case .granted(let tokens): return tokens
    case .refused: throw SignInError(.answerInvalid, "code_refused")
    case .mismatch(let mismatch):
      logger.warning(
        "identity tokens of a sign-in do not match",
        metadata: ["reason": "\(mismatch.message)", "request": requestID])
      throw SignInError(.answerInvalid, "tokens_disagree")
    case .unverified(let rejection) where rejection.isAppleTrouble:
      logger.warning(
        "sign-in failed: Apple's keys are unavailable",
        metadata: ["reason": "\(rejection.message)", "request": requestID])
      throw SignInError(.appleUnreachable, "apple_keys")
    case .unverified(let rejection):
      logger.warning(
        "identity token rejected", metadata: ["reason": "\(rejection.message)", "request": requestID])
      throw SignInError(.answerInvalid, "identity_token")
    case .misconfigured(let refusal):
      logger.error(
        "Apple rejects our credentials, sign-in is unavailable",
        metadata: ["error": "\(refusal.code.rawValue)", "remedy": "\(refusal.remedy)", "request": requestID])
      throw SignInError(.appleRefused, refusal.code.rawValue)
    case .noSecret(let problem):
      logger.error(
        "creating the client secret failed, sign-in is unavailable",
        metadata: ["reason": "\(problem.message)", "request": requestID])
      throw SignInError(.internalError, "client_secret")
    case .appleTrouble(let trouble):
      logger.warning(
        "sign-in failed: error response from Apple",
        metadata: ["reason": "\(trouble.message)", "request": requestID])
      throw SignInError(.appleUnreachable, "apple_trouble")
    case .notSent(let reason):
      logger.warning(
        "sign-in failed: Apple is unreachable", metadata: ["reason": "\(reason)", "request": requestID])
      throw SignInError(.appleUnreachable, "apple_unreachable")
    }
  }
}
