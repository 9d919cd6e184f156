internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// Signing out: GET asks, POST does.
extension SignInService {
  /// `GET sign-out`.
  func signOutPage(_ request: ControlRequest) async -> ControlResponse {
    let wanted = wanted(request)
    do throws(StoreError) {
      guard let snapshot = try await session(request) else {
        return ControlResponse(pages(request).signedOut(returnTo: wanted.path))
      }
      let user = snapshot.account.name?.text ?? snapshot.account.claims.email
      return ControlResponse(pages(request).signOutQuestion(user: user, returnTo: wanted.path))
    } catch {
      return failure(.storeUnavailable, request)
    }
  }

  /// `POST sign-out`: ends the session for good, then forgets the cookie. Where the store cannot write that down, the
  /// user is not told otherwise.
  func signOut(_ request: ControlRequest) async -> ControlResponse {
    // No browser sends a bearer token by itself, so whoever does means it; a cookie comes along with anything.
    guard bearer(request) != nil || isSameOrigin(request) else { return failure(.crossSite, request) }
    let form = try? FormFields(parsing: request.body)
    let wanted = returnTarget(form.flatMap { try? $0.value(of: "return_to") })
    let handles = proofs(request).map(\.handle)
    do throws(StoreError) {
      for handle in handles {
        let ended = try await directory.end(.one(handle), because: .signedOut)
        guard !ended.isEmpty else { continue }
        audit.record(.signOut, session: handle, peer: request.client.address, requestID: request.requestID)
      }
    } catch {
      return failure(.storeUnavailable, request)
    }
    let accept = Array((request.head.headerFields[.accept] ?? "").utf8)
    var response =
      prefersHTML(accept: accept)
      ? ControlResponse(pages(request).signedOut(returnTo: wanted.path))
      : ControlResponse(.noContent, fields: [.cacheControl: "no-store"])
    response.setCookie("\(SessionCookie.name)=; \(SessionCookie.attributes); Max-Age=0")
    return response
  }
}
