package import Secrets
internal import WebFormats

/// The client of Apple's token endpoint: `POST {base}/auth/token`.
///
/// Source: "Generate and validate tokens", developer.apple.com.
package struct TokenClient: Sendable {
  private let call: AppleCall
  private let verifier: IdentityTokenVerifier

  init(call: AppleCall, verifier: IdentityTokenVerifier) {
    self.call = call
    self.verifier = verifier
  }

  /// Exchanges an authorization code. A code works once, so the sign-in state is consumed before.
  /// - Parameters:
  ///   - redirectURI: the one of the authorization request; `nil` for a native app's code, which had none.
  ///   - clientID: the client that the code is bound to: the Services ID, or the app's bundle ID.
  ///   - nonce: the expected nonce of the identity token.
  package func exchange(
    code: AuthorizationCode, redirectURI: String?, clientID: String, nonce: NonceExpectation
  ) async -> ExchangeOutcome {
    var form = [(name: "grant_type", value: "authorization_code"), (name: "code", value: code.exposed)]
    if let redirectURI { form.append((name: "redirect_uri", value: redirectURI)) }
    switch await call.post("/auth/token", clientID: clientID, form: form) {
    case .noSecret(let problem): return .noSecret(problem)
    case .notSent(let reason): return .notSent(reason: reason)
    case .trouble(let trouble): return .appleTrouble(trouble)
    case .refused(let refusal, _): return refusal.code == .invalidGrant ? .refused(refusal) : .misconfigured(refusal)
    case .succeeded(let body):
      let answer: TokenAnswer
      do throws(AppleServiceError) {
        answer = try TokenAnswer(body: body)
      } catch {
        return .appleTrouble(error)
      }
      guard let token = answer.identityToken else {
        return .appleTrouble(.malformed(reason: "no identity token for a code"))
      }
      do throws(IdentityTokenError) {
        let verified = try await verifier.verify(token, audiences: [clientID], nonce: nonce, from: .verified)
        return .granted(TokenGrant(identityToken: verified, refreshToken: answer.refreshToken))
      } catch {
        return .unverified(error)
      }
    }
  }

  /// Asks whether a user is still in good standing. The caller ensures that this is at most once a day for a user.
  /// - Parameters:
  ///   - subject: the user that the refresh token was given for.
  ///   - clientID: the client that the refresh token was given to.
  package func refresh(_ token: RefreshToken, of subject: String, clientID: String) async -> RefreshOutcome {
    let form = [(name: "grant_type", value: "refresh_token"), (name: "refresh_token", value: token.exposed)]
    switch await call.post("/auth/token", clientID: clientID, form: form) {
    case .noSecret(let problem): return .noSecret(problem)
    case .notSent(let reason): return .notSent(reason: reason)
    case .trouble(let trouble): return .appleTrouble(trouble)
    case .refused(let refusal, let status):
      switch (refusal.code, status) {
      case (.invalidGrant, 400): return .revoked(refusal)
      case (.invalidGrant, _): return .appleTrouble(.status(status))
      default: return .misconfigured(refusal)
      }
    case .succeeded(let body):
      return await goodStanding(body, of: subject, clientID: clientID)
    }
  }

  /// 200 with an access token is good standing, with or without a valid identity token: an invalid one updates nothing.
  /// One of another user says nothing about this one (OpenID Connect Core 12.2: `sub` must be the same).
  private func goodStanding(_ body: [UInt8], of subject: String, clientID: String) async -> RefreshOutcome {
    let answer: TokenAnswer
    do throws(AppleServiceError) {
      answer = try TokenAnswer(body: body)
    } catch {
      return .appleTrouble(error)
    }
    guard answer.isTokenResponse else {
      return .appleTrouble(.malformed(reason: "neither access_token nor token_type for a refresh token"))
    }
    var goodStanding = GoodStanding(refreshToken: answer.refreshToken)
    guard let token = answer.identityToken else { return .goodStanding(goodStanding) }
    do throws(IdentityTokenError) {
      let verified = try await verifier.verify(token, audiences: [clientID], nonce: .none, from: .verified)
      guard verified.subject.utf8.elementsEqual(subject.utf8) else {
        return .appleTrouble(.malformed(reason: "the identity token with a refresh is another user's"))
      }
      goodStanding.identityToken = verified
    } catch {
      goodStanding.rejection = error
    }
    return .goodStanding(goodStanding)
  }
}

/// The body of a 200 from the token endpoint. The access token in it is of no use here and is not kept.
private struct TokenAnswer {
  let identityToken: UnverifiedIdentityToken?
  let refreshToken: RefreshToken?
  /// Whether it is a token response at all (RFC 6749, 5.1), and not just any object.
  let isTokenResponse: Bool

  init(body: [UInt8]) throws(AppleServiceError) {
    let object: [String: StrictJSON]
    do throws(StrictJSONError) {
      object = try AppleCall.object(of: body)
    } catch {
      throw .malformed(reason: error.reason)
    }
    guard object["error"] == nil else { throw .malformed(reason: "status 200 with an error") }
    isTokenResponse = ["access_token", "token_type"].contains { object[$0]?.text.map { !$0.isEmpty } ?? false }
    identityToken = object["id_token"]?.text.flatMap { $0.isEmpty ? nil : UnverifiedIdentityToken($0) }
    refreshToken = object["refresh_token"]?.text.flatMap { $0.isEmpty ? nil : RefreshToken($0) }
  }
}
