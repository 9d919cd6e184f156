internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Pages
internal import Sessions
internal import WebFormats

/// `sign-in` of a `[[host]]`: begins a visit to the sign-in of `public_url`, which ends at `arrive` of the same host.
struct VisitEndpoint: Sendable {
  /// The host.
  let origin: OriginSettings
  /// The origin of `public_url`.
  let publicOrigin: OriginSettings
  let keyring: SessionKeyring
  let pages: EndpointPages
  let returnTargets: ReturnTargets
  /// The evaluator of the host's routes.
  let evaluator: AccessEvaluator
  let logger: Logger

  /// `GET sign-in`. Only for top-level navigations: a script, a frame, a prefetch or HEAD must not begin visits.
  func signIn(_ request: ControlRequest) async -> ControlResponse {
    guard request.head.method == .get, request.isTopLevelNavigation else {
      return pages.failureJSON(.signInRequired, request)
    }
    let wanted = returnTargets.wanted(request)
    let now = WallClock.now()
    let cookie = VisitCookie(now: now, keyring.cookies)
    let visit = HostVisit(
      host: origin.origin.authority, secret: cookie.secret.utf8, returnTo: wanted.path,
      maxAge: maxAge(for: wanted, request), began: Date(millisecondsSince1970: now))
    let sealed: String
    do throws(SealError) {
      sealed = try keyring.sealVisit(visit)
    } catch {
      logger.error("encrypting a visit failed", metadata: ["request": "\(request.requestID)"])
      return pages.failure(.internalError, request, returnTo: wanted.path)
    }
    let signIn = publicOrigin.origin.description + GatewayEndpoint.signIn.path(below: publicOrigin.prefix)
    var response = ControlResponse.redirect(.found, toSecret: "\(signIn)?\(HandOver.parameter)=\(sealed)")
    response.setCookie(cookie.setting)
    for other in cookie.surplus(in: RequestCookies(request.head.headerFields)) { response.setCookie(other.clearing) }
    return response
  }

  /// The maximum age of a sign-in for the page to return to; nil for any.
  private func maxAge(for wanted: ReturnTarget, _ request: ControlRequest) -> Int? {
    if request.asksForNewSignIn { return 0 }
    guard let route = evaluator.route(of: wanted.path), route.maxAge > 0 else { return nil }
    return route.maxAge
  }
}
