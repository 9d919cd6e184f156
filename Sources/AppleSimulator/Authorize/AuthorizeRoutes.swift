import FoundationEssentials
import HTTPTypes
import Hummingbird

/// `GET /auth/authorize`, and the decision of the page that it shows.
struct AuthorizeRoutes: Sendable {
  let flow: AuthorizationFlow

  init(apple: SimulatedApple) { flow = AuthorizationFlow(apple: apple) }

  func add(to router: Router<BasicRequestContext>) {
    router.get("/auth/authorize") { request, _ in
      try respond { try begin(SubmittedForm(query: request.uri.query)) }
    }
    router.post("/auth/authorize") { request, _ in
      let body = try await request.body.collect(upTo: 65_536)
      return try respond { try decide(SubmittedForm(body: Array(body.readableBytesView))) }
    }
  }

  private func begin(_ query: SubmittedForm) throws -> Response {
    let choice = try flow.begin(query: query)
    if let automatic = choice.automatic {
      return try flow.finish(ticket: choice.ticket, decision: automatic.decision).response()
    }
    return .page(AuthorizePage(choice: choice).html)
  }

  private func decide(_ form: SubmittedForm) throws -> Response {
    guard let ticket = form["request"], let decision = UserDecision(form: form) else {
      throw AuthorizationRefusal.page(code: "invalid_request", message: "The form is incomplete.")
    }
    return try flow.finish(ticket: ticket, decision: decision).response()
  }

  private func respond(_ body: () throws -> Response) throws -> Response {
    do {
      return try body()
    } catch AuthorizationRefusal.page(let code, let message) {
      return .page(
        ErrorPage(code: code, message: message).html, status: .badRequest, reason: "\(code): \(message)")
    } catch AuthorizationRefusal.answer(let answer) {
      return answer.response()
    }
  }
}

extension UserDecision {
  /// The decision of the page's form; nothing if it names neither a user nor a decision.
  init?(form: SubmittedForm) {
    guard form["decision"] == "continue" else {
      guard form["decision"] == "cancel" else { return nil }
      self = .cancel
      return
    }
    let hidesEmail = form["email_choice"] == "hide"
    switch form["user"] {
    case nil: return nil
    case "new":
      self = .proceed(
        .new(
          email: form["new_email"], firstName: form["new_first_name"] ?? "",
          lastName: form["new_last_name"] ?? ""),
        hidesEmail: hidesEmail)
    case .some(let id):
      self = .proceed(
        .existing(id: id, firstName: form["first_name"], lastName: form["last_name"]), hidesEmail: hidesEmail)
    }
  }
}

extension AuthorizationAnswer {
  /// The answer in the requested response mode.
  func response() -> Response {
    switch mode {
    case .query, .fragment: .found(location)
    case .formPost: .page(FormPostPage(answer: self).html)
    }
  }
}
