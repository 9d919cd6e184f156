internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import Sessions
internal import WebFormats

/// Forms that are submitted without a session, where `keep_forms` allows it: their entries go back to the browser in a
/// page, and nowhere else. `form` tells that page who has signed in.
struct KeptFormEndpoint: Sendable {
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let keyring: SessionKeyring

  /// `GET form`.
  var action: EndpointAction { EndpointAction([.get: answer], pages: pages) }

  /// Answers the request of a form.
  /// - Parameters:
  ///   - limit: most bytes of its body.
  ///   - returnTo: the page that the form was on.
  func keeping(limit: Int, returnTo: String) -> EndpointAction {
    EndpointAction([.post: { page($0, returnTo: returnTo) }], pages: pages, bodyLimit: limit)
  }

  private func page(_ request: ControlRequest, returnTo: String) -> ControlResponse {
    let pages = pages.pages(request)
    let type = request.head.headerFields[.contentType] ?? ""
    guard let form = FormEntries(parsing: request.body, contentType: Array(type.utf8)) else {
      return ControlResponse(pages.formNotKept(requestID: request.requestID, returnTo: returnTo))
    }
    let marks = RequestCookies(request.head.headerFields).all(keyring.cookies.lastAccount)
    let account = marks.first { Base64URL.decode(Array($0.utf8))?.count == SessionKeyring.accountMarkLength }
    return ControlResponse(
      pages.keptForm(form, account: account, requestID: request.requestID, returnTo: returnTo))
  }

  /// For a script of the page `{"account"}`: whether nobody is signed in (`none`), the account of its query (`same`;
  /// any if it names none), or another one (`other`). For a person, the way back to the page. Neither is a use of the
  /// session.
  private func answer(_ request: ControlRequest) async -> ControlResponse {
    let wanted = (try? request.query())?.values(of: PageRenderer.formAccount).first
    let subject: Subject?
    do throws(StoreError) {
      subject = try await requestSessions.peekSubject(request)
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
    guard let wanted else {
      return subject == nil
        ? pages.failure(.signInRequired, request) : ControlResponse(pages.pages(request).backToForm())
    }
    let account =
      subject.map { wanted.isEmpty || keyring.isAccountMark(String(decoding: wanted, as: UTF8.self), of: $0) }
      .map { $0 ? "same" : "other" } ?? "none"
    return .json(Array("{\"account\":\"\(account)\"}\n".utf8))
  }
}
