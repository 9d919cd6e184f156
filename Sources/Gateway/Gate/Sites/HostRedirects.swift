internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import WebFormats

/// Redirects from one name of the gateway to another: to `public_url`, and to a name without a dot at its end.
struct HostRedirects {
  private let configuration: GateConfiguration

  init(_ configuration: GateConfiguration) { self.configuration = configuration }

  /// The redirect to `public_url` for an endpoint that is there only: on a `[[host]]` the pages about accounts; on an
  /// alias, where neither Apple's answer nor the session's cookie arrives, also signing in and out. Nil for other
  /// endpoints and on `public_url` itself.
  func toPublicURL(
    _ endpoint: GatewayEndpoint, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> ControlResponse? {
    switch endpoint {
    case .account, .accountStop, .invite, .people: break
    case .signIn, .authorize, .signOut, .requestAccess: guard request.isAlias else { return nil }
    default: return nil
    }
    guard request.isAlias || !request.site.isPublicURL else { return nil }
    func address(of range: Range<Int>) -> String {
      configuration.origin.description + PercentEncoding.requestTarget(bytes.array(range))
    }
    switch head.method {
    case .get, .head: return .redirect(.found, to: address(of: head.pathAndQuery))
    case .post where endpoint == .signOut:
      if configuration.acceptsBearer && head.fields.has(.authorization) { return nil }
    case .post where endpoint.needsSession: break
    default: if request.isAlias { return nil }
    }
    return .redirect(.seeOther, to: address(of: head.path))
  }

  /// The redirect of a navigation to a host with a dot at its end, as fully qualified names may be written, to the same
  /// address without it, which is another site to browsers. Nil for other requests, and if the host is not one of ours.
  func withoutTrailingDot(_ head: borrowing RequestHead, _ bytes: RawSpan) -> ControlResponse? {
    guard RequestKind.isNavigation(head, bytes), !head.isAsteriskForm, !head.path.isEmpty else { return nil }
    let authority = bytes.array(head.authority)
    let end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.count
    guard end > 1, authority[end - 1] == UInt8(ascii: ".") else { return nil }
    let name = Array(authority[..<(end - 1)]) + Array(authority[end...])
    guard let place = configuration.sites.authorities.place(name.span) else { return nil }
    if case .alias = place { return nil }
    let target = PercentEncoding.requestTarget(bytes.array(head.pathAndQuery))
    return .redirect(.permanentRedirect, to: configuration.sites.site(place).origin.description + target)
  }

  /// The redirect from an application's own address for signing out to ours on `public_url`: for aliases, where the
  /// session's cookie does not arrive. Nil for other hosts.
  func toSignOut(_ head: borrowing RequestHead, _ request: GateRequest) -> ControlResponse? {
    guard request.isAlias else { return nil }
    let address = configuration.origin.description + GatewayEndpoint.signOut.path(below: configuration.paths.prefix)
    switch head.method {
    case .get, .head: return .redirect(.found, to: address)
    case .post where configuration.acceptsBearer && head.fields.has(.authorization): return nil
    case .post: return .redirect(.seeOther, to: address)
    default: return nil
    }
  }
}
