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

/// What every step of signing in and out works with.
struct SignInService: Sendable {
  let settings: GatewaySettings
  let knowledge: GateConfiguration
  let directory: SessionManager
  let apple: AppleIdentityProvider
  let button: AppleButton
  let metrics: MetricsRegistry
  let audit: AuditTrail
  let logger: Logger

  var keyring: SessionKeyring { knowledge.keyring }

  /// The pages in the language that a request's client reads.
  func pages(_ request: ControlRequest) -> PageRenderer { knowledge.pages.inLanguage(of: languages(request)) }

  /// What a request's client reads.
  func languages(_ request: ControlRequest) -> LanguagePreferences {
    LanguagePreferences(acceptLanguage: (request.head.headerFields[.acceptLanguage] ?? "").utf8)
  }

  /// Where `return_to` of a query or a form leads.
  func returnTarget(_ value: [UInt8]?) -> ReturnTarget {
    guard let value else { return .frontPage }
    return ReturnTarget(parsing: value, origin: settings.origin, prefix: settings.prefix)
  }

  /// The fields of a request's query.
  func query(_ request: ControlRequest) throws(FormFieldsError) -> FormFields {
    let path = Array((request.head.path ?? "").utf8)
    guard let mark = path.firstIndex(of: UInt8(ascii: "?")) else { return FormFields(fields: []) }
    return try FormFields(parsing: path[(mark + 1)...])
  }

  /// `return_to` of a request's query.
  func wanted(_ request: ControlRequest) -> ReturnTarget {
    let fields = try? query(request)
    return returnTarget(fields.flatMap { try? $0.value(of: "return_to") })
  }

  /// The sessions that a request proves, whether they still stand or not: that of its bearer token alone, if it has one
  /// of ours; otherwise those of its cookies.
  func proofs(_ request: ControlRequest) -> [SessionIdentifier] {
    if let bearer = bearer(request) { return [bearer] }
    return RequestCookies(request.head.headerFields).all(SessionCookie.name).compactMap {
      keyring.verifyCookie(Array($0.utf8))?.identifier
    }
  }

  /// The session that a bearer token of ours names, where they are accepted.
  func bearer(_ request: ControlRequest) -> SessionIdentifier? {
    guard settings.native.acceptsBearer else { return nil }
    for value in request.head.headerFields[values: .authorization] {
      let value = Array(value.utf8)
      if let place = BearerToken.find(value.span.bytes, value.indices),
        let verified = keyring.verifyCookie(Array(value[place]))
      {
        return verified.identifier
      }
    }
    return nil
  }

  /// The first session that a request proves, whether it still stands or not.
  func identifier(_ request: ControlRequest) -> SessionIdentifier? { proofs(request).first }

  /// The session of a request.
  func session(_ request: ControlRequest) async throws(StoreError) -> SessionSnapshot? {
    for identifier in proofs(request) {
      if let found = try await directory.find(identifier) { return found }
    }
    return nil
  }

  /// A failure, as a page or as JSON by what the client accepts.
  func failure(_ failure: PageFailure, _ request: ControlRequest, returnTo: String = "/") -> ControlResponse {
    let accept = Array((request.head.headerFields[.accept] ?? "").utf8)
    return ControlResponse(
      pages(request).failure(failure, accept: accept, requestID: request.requestID, returnTo: returnTo))
  }

  /// 405, with the methods that the path has.
  func methodNotAllowed(_ request: ControlRequest, allow: String) -> ControlResponse {
    var response = failure(.methodNotAllowed, request)
    response.head.headerFields[.allow] = allow
    return response
  }

  /// Whether a request that changes something comes from our own pages (`Origin`, or `Sec-Fetch-Site` where a browser
  /// leaves `Origin` out). Without either there is no telling, and the answer is no.
  func isSameOrigin(_ request: ControlRequest) -> Bool {
    let fields = request.head.headerFields
    if let site = HTTPField.Name("Sec-Fetch-Site"), let value = fields[site], value != "same-origin" { return false }
    if let origin = HTTPField.Name("Origin"), let value = fields[origin] {
      return value.utf8.elementsEqual(settings.origin.description.utf8)
    }
    return HTTPField.Name("Sec-Fetch-Site").map { fields[$0] == "same-origin" } ?? false
  }
}
