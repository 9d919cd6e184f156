internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Pages
internal import Sessions
internal import WebFormats

/// The return of a sign-in in the browser to the native app that began it: a redirect to its custom scheme with a
/// one-time code, which the app exchanges for the session (the shape of RFC 8252 with RFC 7636).
///
/// Another app with the same scheme may receive the code, but cannot exchange it: only the original app knows the
/// verifier of the challenge. The code is sealed and self-contained, so it works on every replica.
struct AppReturns: Sendable {
  let native: NativeSettings
  let keyring: SessionKeyring
  let logger: Logger

  /// The destination of a sign-in that begins with this request; nil if it is not for an app.
  /// - Throws: what is wrong with a request for an app.
  func destination(_ request: ControlRequest) throws(AppReturnViolation) -> SignInState.Destination? {
    let schemes = native.returnSchemes
    guard !schemes.isEmpty, let query = try? request.query() else { return nil }
    guard let wanted = query.values(of: "return_to").first, AppReturnTarget.names(wanted, oneOf: schemes) else {
      return nil
    }
    guard query.values(of: "return_to").count == 1, let target = AppReturnTarget(parsing: wanted, schemes: schemes)
    else { throw .address }
    guard let method = try? query.value(of: "code_challenge_method"), method.elementsEqual("S256".utf8),
      let text = try? query.value(of: "code_challenge"), let challenge = AppReturn.challenge(parsing: text)
    else { throw .challenge(target) }
    return .app(target, challenge: challenge)
  }

  /// The redirect to the app with the one-time code.
  func redirect(
    _ made: IdentifiedSession, to target: AppReturnTarget, challenge: [UInt8], _ request: ControlRequest
  ) -> ControlResponse {
    guard let appReturn = AppReturn(made.identifier, challenge: challenge),
      let code = try? keyring.sealAppReturn(appReturn, now: .now)
    else {
      logger.error("encrypting an app return code failed", metadata: ["request": "\(request.requestID)"])
      return redirect(.internalError, to: target)
    }
    return .redirect(.seeOther, toSecret: target.adding("code", code))
  }

  /// The redirect to the app with a failure: the `error` of our JSON.
  func redirect(_ failure: PageFailure, to target: AppReturnTarget) -> ControlResponse {
    .redirect(.seeOther, toSecret: target.adding("error", failure.rawValue))
  }
}

/// A mistake in an app's request to begin a sign-in.
enum AppReturnViolation: Error {
  /// The scheme is listed, but the rest is not a valid address.
  case address
  /// There is no challenge of the method S256. The error can be returned to the app.
  case challenge(AppReturnTarget)
}
