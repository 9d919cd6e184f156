internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire

/// The `WWW-Authenticate` fields of a 401 (RFC 9110, 11.6.1).
enum AuthenticationChallenge {
  /// The challenges to a request: `Bearer`, and `Basic` where the route accepts machine tokens, unless the client is a
  /// browser, which would ask for a password.
  static func add(
    to response: inout ControlResponse, _ route: RouteDecision?, _ head: borrowing RequestHead, realm: String
  ) {
    add(to: &response, realm: realm, takesBasic: route?.acceptsTokens == true && !head.fields.has(.secFetchMode))
  }

  /// - Parameter takesBasic: whether the client may send a machine token with Basic.
  static func add(to response: inout ControlResponse, realm: String, takesBasic: Bool) {
    response.head.headerFields[.wwwAuthenticate] = bearer
    if takesBasic {
      response.head.headerFields.append(HTTPField(name: .wwwAuthenticate, value: "Basic realm=\"\(realm)\""))
    }
  }

  /// The challenge that every 401 carries.
  static let bearer = "Bearer"
}
