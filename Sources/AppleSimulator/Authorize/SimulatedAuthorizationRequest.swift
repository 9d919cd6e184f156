/// A valid request to `GET /auth/authorize` (Apple, "Incorporating Sign in with Apple into other
/// platforms").
struct SimulatedAuthorizationRequest: Sendable, Equatable {
  enum ResponseMode: String, Sendable {
    case query, fragment
    case formPost = "form_post"
  }

  let clientID: String
  let redirectURI: String
  let wantsIdentityToken: Bool
  let responseMode: ResponseMode
  let scopes: [String]
  let state: String?
  let nonce: String?
}

/// The reason why an authorization request was refused.
enum AuthorizationRefusal: Error, Sendable, Equatable {
  /// Shown to the user, because there is no valid redirect URI or response mode for an answer.
  case page(code: String, message: String)
  /// Sent to the client.
  case answer(AuthorizationAnswer)
}

extension SimulatedAuthorizationRequest {
  /// Validates a query by Apple's rules.
  ///
  /// A wrong client or redirect URI is never answered with a redirect (RFC 6749, 4.1.2.1), nor is a wrong
  /// response mode, which leaves open how to answer. Everything else is.
  init(
    query: SubmittedForm, clients: [String: SimulatedClient], allowingLoopback: Bool
  ) throws(AuthorizationRefusal) {
    if let name = query.repeatedName {
      throw .page(code: "invalid_request", message: "Parameter \(name) appears more than once.")
    }
    guard let clientID = query["client_id"] else {
      throw .page(code: "invalid_request", message: "Missing parameter client_id.")
    }
    guard let client = clients[clientID], client.kind == .web else {
      throw .page(code: "invalid_client", message: "Invalid client id.")
    }
    self.clientID = clientID
    redirectURI = try Self.redirectURI(of: query, client: client, allowingLoopback: allowingLoopback)
    state = query["state"]
    nonce = query["nonce"]

    let scopeText = query["scope"] ?? ""
    let scopes = scopeText.split(separator: " ").map(String.init)
    let types = (query["response_type"] ?? "").split(separator: " ").map(String.init)
    wantsIdentityToken = types.contains("id_token")
    responseMode = try Self.responseMode(
      named: query["response_mode"], hasScope: !scopes.isEmpty, wantsIdentityToken: wantsIdentityToken)
    self.scopes = scopes

    guard Set(types) == ["code"] || Set(types) == ["code", "id_token"], types.count <= 2 else {
      throw .answer(refusal(types.isEmpty ? "invalid_request" : "unsupported_response_type"))
    }
    guard Set(scopes).isSubset(of: Self.knownScopes) else {
      throw .answer(refusal("invalid_scope"))
    }
  }

  private static let knownScopes: Set<String> = ["name", "email", "edu.classes.read", "edu.users.read"]

  private static func redirectURI(
    of query: SubmittedForm, client: SimulatedClient, allowingLoopback: Bool
  ) throws(AuthorizationRefusal) -> String {
    guard let uri = query["redirect_uri"] else {
      throw .page(code: "invalid_request", message: "Missing parameter redirect_uri.")
    }
    let isRegistered = client.redirectURIs.contains { $0.utf8.elementsEqual(uri.utf8) }
    guard isRegistered, RedirectURIRules.problem(of: uri, allowingLoopback: allowingLoopback) == nil else {
      throw .page(code: "invalid_request", message: "Invalid web redirect url.")
    }
    return uri
  }

  private static func responseMode(
    named name: String?, hasScope: Bool, wantsIdentityToken: Bool
  ) throws(AuthorizationRefusal) -> ResponseMode {
    let standard: ResponseMode = wantsIdentityToken ? .fragment : .query
    guard let mode = name.map(ResponseMode.init(rawValue:)) ?? standard else {
      throw .page(code: "invalid_request", message: "Invalid response_mode.")
    }
    if hasScope, mode != .formPost {
      throw .page(
        code: "invalid_request",
        message: "response_mode must be form_post when name or email scope is requested.")
    }
    if wantsIdentityToken, mode == .query {
      throw .page(
        code: "invalid_request",
        message: "response_mode must be fragment or form_post when id_token is requested.")
    }
    return mode
  }

  /// The error response.
  func refusal(_ code: String) -> AuthorizationAnswer {
    var fields = [SubmittedForm.Field(name: "error", value: code)]
    if let state { fields.append(SubmittedForm.Field(name: "state", value: state)) }
    return AuthorizationAnswer(redirectURI: redirectURI, mode: responseMode, fields: fields)
  }
}

/// The response that the browser returns to the client.
struct AuthorizationAnswer: Sendable, Equatable {
  let redirectURI: String
  let mode: SimulatedAuthorizationRequest.ResponseMode
  var fields: [SubmittedForm.Field]

  /// The address of the redirect in the modes that have one.
  var location: String {
    let encoded = fields.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
    switch mode {
    case .fragment: return "\(redirectURI)#\(encoded)"
    case .query, .formPost:
      return "\(redirectURI)\(redirectURI.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\(encoded)"
    }
  }
}
