internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Operations
internal import Pages

/// The paths under our own prefix, and who answers each.
struct GatewayEndpoints: Sendable {
  private let service: SignInService
  private let notifications: NotificationEndpoint
  private let assertionKeys: AssertionKeys
  private let verifyPath: [UInt8]

  init(_ service: SignInService, notifications: NotificationEndpoint, assertionKeys: AssertionKeys) {
    self.service = service
    self.notifications = notifications
    self.assertionKeys = assertionKeys
    verifyPath = Array((service.settings.prefix + "/verify").utf8)
  }

  /// Whether `path` is the one that other proxies ask: it is answered by the gate itself, on any authority.
  @inline(__always)
  func isVerify(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    guard path.count == verifyPath.count else { return false }
    return path.indices.allSatisfy { bytes.byte(at: $0) == verifyPath[$0 - path.lowerBound] }
  }

  /// The action behind a path; nil where there is nothing.
  func action(_ name: String) -> EndpointAction? {
    switch name {
    case "sign-in": action([.get: service.signInPage])
    case "button": action([.get: service.buttonImage])
    case "authorize": action([.get: service.authorize], servesHead: false)
    case "callback": callback
    case "sign-out": action([.get: service.signOutPage, .post: service.signOut], bodyLimit: 16 * 1024)
    case "session": action([.get: service.sessionJSON])
    case "native": action([.post: service.nativeSignIn], bodyLimit: 32 * 1024)
    case "native/exchange": action([.post: service.exchangeHandBack], bodyLimit: 4 * 1024)
    case "notifications": action([.post: notifications.answer], bodyLimit: NotificationEndpoint.bodyLimit)
    case "keys": action([.get: assertionKeys.answer])
    default: nil
    }
  }

  /// Takes Apple's answer in the configured response mode only: a code in an address would stand in logs and histories
  /// that the configuration rules out.
  private var callback: EndpointAction {
    let bodyLimit = 64 * 1024
    switch service.settings.apple.responseMode {
    case .formPost: return action([.post: service.callbackPost], bodyLimit: bodyLimit)
    case .query, .fragment:
      return action(
        [.get: service.callbackGet, .post: service.callbackPost], servesHead: false, bodyLimit: bodyLimit)
    }
  }

  /// - Parameter servesHead: whether HEAD is answered as GET is; not where GET has an effect.
  private func action(
    _ methods: [HTTPRequest.Method: @Sendable (ControlRequest) async -> ControlResponse], servesHead: Bool = true,
    bodyLimit: Int = 0
  ) -> EndpointAction {
    let service = service
    var methods = methods
    if servesHead, let get = methods[.get] { methods[.head] = get }
    let answers = methods
    return EndpointAction(bodyLimit: bodyLimit, routeClass: Operations.RouteClass.own.rawValue) { request in
      guard let perform = answers[request.head.method] else {
        let allowed = answers.keys.map(\.rawValue).sorted().joined(separator: ", ")
        return service.methodNotAllowed(request, allow: allowed)
      }
      return await perform(request)
    }
  }
}
