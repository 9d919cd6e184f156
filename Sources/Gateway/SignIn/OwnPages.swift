internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Operations
internal import Pages

/// The paths under our own prefix, and who answers each.
struct OwnPages: Sendable {
  private let service: SignInService
  private let verifyPath: [UInt8]

  init(_ service: SignInService) {
    self.service = service
    verifyPath = Array((service.settings.prefix + "/verify").utf8)
  }

  /// Whether `path` is the one that other proxies ask: it is answered by the gate itself, on any authority.
  @inline(__always)
  func isVerify(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    guard path.count == verifyPath.count else { return false }
    return path.indices.allSatisfy { bytes.byte(at: $0) == verifyPath[$0 - path.lowerBound] }
  }

  /// The action behind a path; nil where there is nothing.
  func action(_ name: String) -> ControlAction? {
    switch name {
    case "sign-in": action([.get: service.signInPage])
    case "button": action([.get: service.buttonImage])
    case "authorize": action([.get: service.authorize])
    case "callback": action([.post: service.callbackPost, .get: service.callbackGet], bodyLimit: 64 * 1024)
    case "sign-out": action([.get: service.signOutPage, .post: service.signOut], bodyLimit: 16 * 1024)
    case "session": action([.get: service.sessionJSON])
    case "native": action([.post: service.nativeSignIn], bodyLimit: 32 * 1024)
    case "native/exchange": action([.post: service.exchangeHandBack], bodyLimit: 4 * 1024)
    default: nil
    }
  }

  private func action(
    _ methods: [HTTPRequest.Method: @Sendable (ControlRequest) async -> ControlResponse], bodyLimit: Int = 0
  ) -> ControlAction {
    let service = service
    return ControlAction(bodyLimit: bodyLimit, routeClass: Operations.RouteClass.own.rawValue) { request in
      var method = request.head.method
      if method == .head { method = .get }
      guard let perform = methods[method] else {
        var response = service.failure(.methodNotAllowed, request)
        response.head.headerFields[.allow] = methods.keys.map(\.rawValue).sorted().joined(separator: ", ")
        return response
      }
      return await perform(request)
    }
  }
}
