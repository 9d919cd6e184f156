internal import DataPlane
internal import Operations
internal import Secrets
internal import Sessions
internal import WebFormats

/// Authorization of the admin API: by the token; without one, by permission to open the Unix socket; otherwise
/// nothing is authorized, because the containers of a pod and the users of a machine share the loopback interface.
enum AdminAuthorization: Sendable {
  case token(AdminToken)
  case socket
  case nobody

  init(_ settings: AdminSettings, at address: BindAddress) throws(AdminTokenError) {
    if let file = settings.tokenFile {
      self = .token(try AdminToken(contentsOfFile: file))
    } else if case .unix = address {
      self = .socket
    } else {
      self = .nobody
    }
  }

  /// Whether only the owner may have access to the socket's file.
  var restsOnPermission: Bool {
    if case .socket = self { true } else { false }
  }

  /// Whether these bytes are the case-insensitive scheme (RFC 9110, 11.1) and a space.
  private func isBearer(_ bytes: Substring.UTF8View) -> Bool {
    bytes.lazy.map(\.asciiLowercased).elementsEqual("bearer ".utf8)
  }

  /// - Parameter authorization: every value of `Authorization`.
  /// - Returns: the operator with the credential.
  func authorize(_ authorization: [String]) throws(AdminError) -> AccessAuthor {
    switch self {
    case .socket: return .socket
    case .nobody: throw .switchedOff
    case .token(let token):
      guard authorization.count == 1, let value = authorization.first?.utf8, value.count > 7,
        isBearer(value.prefix(7))
      else { throw .noToken }
      guard token.matches(Array(value.dropFirst(7))) else { throw .wrongToken }
      return .token
    }
  }
}
