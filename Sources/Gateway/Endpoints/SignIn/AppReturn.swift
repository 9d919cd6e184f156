internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// Handing a sign-in in the browser back to the native app that began it: a redirect to its custom scheme with a
/// one-time code, which the app exchanges for the session (the shape of RFC 8252 with RFC 7636).
///
/// Whoever else has registered the scheme gets the code, and cannot exchange it: only the app knows the verifier of the
/// challenge that it began with. The code is sealed and carries all that is needed, so it works on every replica.
extension SignInService {
  /// Where an attempt that begins with this request leads in the end; nil if it is not for an app.
  /// - Throws: what is wrong, where it is for an app.
  func appDestination(_ request: ControlRequest) throws(AppReturnRefusal) -> SignInState.Destination? {
    let schemes = settings.native.returnSchemes
    guard !schemes.isEmpty, let query = try? query(request) else { return nil }
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

  /// Why an attempt for an app is not begun.
  enum AppReturnRefusal: Error {
    /// The scheme is listed, the rest is no address.
    case address
    /// There is no challenge of the method S256. The app can be told.
    case challenge(AppReturnTarget)
  }

  /// The redirect to the app with the one-time code.
  func handBack(
    _ made: NewSession, to target: AppReturnTarget, challenge: [UInt8], _ request: ControlRequest
  ) -> ControlResponse {
    guard let handBack = AppReturn(made.identifier, challenge: challenge),
      let code = try? keyring.sealHandBack(handBack, now: .now)
    else {
      logger.error("encrypting an app return code failed", metadata: ["request": "\(request.requestID)"])
      return self.handBack(.internalError, to: target)
    }
    return Self.redirect(to: target.adding("code", code))
  }

  /// The redirect to the app with what went wrong: the `error` of our JSON.
  func handBack(_ failure: PageFailure, to target: AppReturnTarget) -> ControlResponse {
    Self.redirect(to: target.adding("error", failure.rawValue))
  }

  private static func redirect(to address: String) -> ControlResponse {
    var response = ControlResponse.redirect(.seeOther, to: address)
    response.head.headerFields[.referrerPolicy] = "no-referrer"
    return response
  }

  /// `POST native/exchange`: the one-time code and its verifier for the session.
  func exchangeHandBack(_ request: ControlRequest) async -> ControlResponse {
    guard !settings.native.returnSchemes.isEmpty else { return refusedJSON(.notFound, request) }
    do throws(SignInFailure) {
      let (code, verifier) = try Self.exchangeFields(try appJSON(request))
      let handBack: AppReturn
      do throws(SealError) {
        handBack = try keyring.openHandBack(code, now: .now)
      } catch .expired {
        throw SignInFailure(.attemptExpired, "hand_back_expired")
      } catch {
        throw SignInFailure(.attemptUnknown, "hand_back_forged")
      }
      // A wrong verifier does not use the code up: who has only caught it must not take it from the app.
      guard handBack.isProved(by: verifier) else { throw SignInFailure(.attemptUnknown, "hand_back_verifier") }
      try await consume(.handBack(code), until: .now + 2 * AppReturn.lifetime.timeInterval, otherwise: "hand_back_used")
      return began(try await session(of: handBack))
    } catch {
      note(error.reason, request)
      return refusedJSON(error.page, request)
    }
  }

  private func session(of handBack: AppReturn) async throws(SignInFailure) -> NewSession {
    let found: SessionSnapshot?
    do throws(StoreError) {
      found = try await directory.find(handBack.identifier)
    } catch {
      throw SignInFailure(.storeUnavailable, "store")
    }
    // Signed out everywhere, or revoked, in the minute between.
    guard let found else { throw SignInFailure(.signInRequired, "hand_back_ended") }
    return NewSession(identifier: handBack.identifier, snapshot: found)
  }

  /// `code` and `code_verifier`, each a text.
  private static func exchangeFields(
    _ body: [UInt8]
  ) throws(SignInFailure) -> (code: [UInt8], verifier: [UInt8]) {
    guard let members = try? StrictJSON.object(body, maximumBytes: 4096, maximumDepth: 2),
      let code = members["code"]?.text, let verifier = members["code_verifier"]?.text
    else { throw SignInFailure(.badRequest, "exchange_request") }
    return (Array(code.utf8), Array(verifier.utf8))
  }
}
