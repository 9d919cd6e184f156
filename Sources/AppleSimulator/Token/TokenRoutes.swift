import FoundationEssentials
import HTTPTypes
import Hummingbird

/// `POST /auth/token`, `/auth/revoke`, `/auth/usermigrationinfo` and `GET /auth/keys`: the endpoints for servers.
struct TokenRoutes: Sendable {
  let apple: SimulatedApple

  func add(to router: Router<BasicRequestContext>) {
    router.post("/auth/token") { request, _ in
      try await respond(request) { form, _ in try Response.json(try await TokenGrants(apple: apple).answer(to: form)) }
    }
    router.post("/auth/revoke") { request, _ in
      try await respond(request) { form, _ in
        try await Revocation(apple: apple).revoke(form)
        return Response(status: .ok, headers: [.cacheControl: "no-store"])
      }
    }
    router.post("/auth/usermigrationinfo") { request, _ in
      try await respond(request) { form, headers in
        try Response.json(try await Migration(apple: apple).answer(to: form, authorization: headers[.authorization]))
      }
    }
    router.get("/auth/keys") { _, _ in
      let places = apple.withState { state, _ in state.publishedKeys }
      let keys = places.map { SigningKeySource.shared.key(at: $0).publicJWK() }
      return try Response.json(["keys": keys])
    }
  }

  private func respond(
    _ request: Request, _ body: (SubmittedForm, HTTPFields) async throws -> Response
  ) async throws -> Response {
    let bytes = try await request.body.collect(upTo: 65_536)
    do {
      guard request.headers[.contentType].map(Self.isForm) ?? false else {
        throw EndpointRefusal(.invalidRequest, reason: "the content type is not application/x-www-form-urlencoded")
      }
      return try await body(SubmittedForm(body: Array(bytes.readableBytesView)), request.headers)
    } catch let refusal as EndpointRefusal {
      return try refusal.response()
    } catch is AccountThrottled {
      return .bytes(
        Data(), type: "text/plain", status: .tooManyRequests,
        reason: "this account was verified less than a day ago")
    }
  }

  private static func isForm(_ contentType: String) -> Bool {
    let essence = contentType.prefix { $0 != ";" }.lowercased()
    return essence.split(separator: " ").first == "application/x-www-form-urlencoded"
  }
}
