internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import Sessions
internal import WebFormats

/// Pages and failures of the endpoints, in the language and the format that a request asks for.
struct EndpointPages: Sendable {
  private let renderer: PageRenderer

  init(_ renderer: PageRenderer) { self.renderer = renderer }

  /// The pages in the language of the request.
  func pages(_ request: ControlRequest) -> PageRenderer { renderer.inLanguage(of: languages(request)) }

  /// The languages that the client prefers.
  func languages(_ request: ControlRequest) -> LanguagePreferences {
    LanguagePreferences(acceptLanguage: (request.head.headerFields[.acceptLanguage] ?? "").utf8)
  }

  /// A failure, as a page or as JSON by what the client accepts.
  /// - Parameter user: the refused signed-in user, if known.
  func failure(
    _ failure: PageFailure, _ request: ControlRequest, returnTo: String = "/", to user: Account? = nil
  ) -> ControlResponse {
    ControlResponse(
      pages(request).failure(
        failure, accept: request.accept, requestID: request.requestID, returnTo: returnTo, user: user?.shownAddress))
  }

  /// A failure as JSON, whatever the client accepts.
  func failureJSON(_ failure: PageFailure, _ request: ControlRequest) -> ControlResponse {
    ControlResponse(pages(request).failureJSON(failure, requestID: request.requestID))
  }

  /// 405, with the methods that the path has.
  func methodNotAllowed(_ request: ControlRequest, allow: String) -> ControlResponse {
    var response = failure(.methodNotAllowed, request)
    response.head.headerFields[.allow] = allow
    return response
  }
}

extension ControlRequest {
  /// Whether the client would rather read a page than JSON.
  var prefersPage: Bool { prefersHTML(accept: accept) }

  fileprivate var accept: [UInt8] { Array((head.headerFields[.accept] ?? "").utf8) }
}
