import HTTPTypes
import Hummingbird

/// A refusal by the token, revocation or migration endpoint: `{"error": …}` with status 400 (Apple, "ErrorResponse").
struct EndpointRefusal: Error, Sendable, Equatable {
  enum Code: String, Sendable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
  }

  let code: Code
  /// Apple's undocumented `error_description`, where it is known to send one.
  var description: String?
  /// The reason, in the simulator's own words.
  var reason: String

  init(_ code: Code, description: String? = nil, reason: String? = nil) {
    self.code = code
    self.description = description
    self.reason = reason ?? description ?? code.rawValue
  }

  func response() throws -> Response {
    var body = ["error": code.rawValue]
    body["error_description"] = description
    return try Response.json(body, status: .badRequest, reason: reason)
  }
}
