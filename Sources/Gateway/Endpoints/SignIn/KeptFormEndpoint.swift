internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Pages
internal import Sessions
internal import WebFormats

/// Forms that are submitted without a session, or with one that is too old, where `keep_forms` allows it: their entries
/// are returned to the browser in a page, and not stored. That page queries `form` for the signed-in account.
struct KeptFormEndpoint: Sendable {
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let keyring: SessionKeyring

  /// `GET form`.
  var action: EndpointAction { EndpointAction([.get: answer], pages: pages) }

  /// Answers the submission of a form.
  func keeping(_ form: KeepableForm) -> EndpointAction {
    EndpointAction([.post: { page($0, form) }], pages: pages, bodyLimit: form.limit)
  }

  private func page(_ request: ControlRequest, _ kept: KeepableForm) -> ControlResponse {
    let pages = pages.pages(request)
    let type = request.head.headerFields[.contentType] ?? ""
    guard let form = FormEntries(parsing: request.body, contentType: Array(type.utf8)) else {
      let failure = kept.outdated == nil ? PageFailure.formNotSent : .reauthenticationRequired
      return ControlResponse(
        pages.formNotKept(because: failure, requestID: request.requestID, returnTo: kept.returnTo))
    }
    if let outdated = kept.outdated {
      return ControlResponse(
        pages.keptForm(
          form, account: keyring.accountMark(of: outdated.subject), maxAge: outdated.maxAge,
          requestID: request.requestID, returnTo: kept.returnTo))
    }
    let marks = RequestCookies(request.head.headerFields).all(keyring.cookies.lastAccount)
    let account = marks.first { Base64URL.decode(Array($0.utf8))?.count == SessionKeyring.accountMarkLength }
    return ControlResponse(
      pages.keptForm(form, account: account, requestID: request.requestID, returnTo: kept.returnTo))
  }

  /// For a script of the page `{"account"}`: whether nobody is signed in (`none`), the account of its query (`same`;
  /// any if it names none), or another one (`other`). With `max_age`, an older sign-in counts as none. For
  /// a navigation, a redirect to the page. Neither counts as a use of the session.
  private func answer(_ request: ControlRequest) async -> ControlResponse {
    let query = try? request.query()
    let wanted = query?.values(of: PageRenderer.formAccount).first
    let found: SessionSnapshot?
    do throws(StoreError) {
      found = try await requestSessions.peekSession(request)
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
    guard let wanted else {
      return found == nil
        ? pages.failure(.signInRequired, request) : ControlResponse(pages.pages(request).backToForm())
    }
    let maxAge = query?.values(of: PageRenderer.formMaxAge).first
    return .json(Array("{\"account\":\"\(comparison(of: found, with: wanted, maxAge))\"}\n".utf8))
  }

  /// The `account` of the answer to a script.
  /// - Parameters:
  ///   - wanted: the mark of an account; empty for any.
  ///   - maxAge: as in ``isOutdated(_:_:)``; nil without one.
  private func comparison(of found: SessionSnapshot?, with wanted: [UInt8], _ maxAge: [UInt8]?) -> String {
    guard let found else { return "none" }
    let mark = String(decoding: wanted, as: UTF8.self)
    guard wanted.isEmpty || keyring.isAccountMark(mark, of: found.session.subject) else { return "other" }
    if let maxAge, isOutdated(found, maxAge) { return "none" }
    return "same"
  }

  /// Whether a form of this session would be refused again. Only a hint for the page; the gate decides.
  /// - Parameter maxAge: in seconds, as digits; 0 for none.
  private func isOutdated(_ found: SessionSnapshot, _ maxAge: [UInt8]) -> Bool {
    guard let limit = DecimalDigits.parse(maxAge, limit: 1 << 31) else { return true }
    if found.account.access.isTokenDiscarded { return true }
    return limit > 0 && !found.session.isRecent(.seconds(limit), at: .now)
  }
}
