internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Operations
internal import WebFormats

/// The gateway's own endpoints, and the methods that each has.
struct EndpointTable: Sendable {
  let pages: EndpointPages
  let authorize: AuthorizeEndpoint
  let callback: CallbackEndpoint
  let session: SessionEndpoint
  let signOut: SignOutEndpoint
  let account: AccountEndpoint
  let native: NativeEndpoint
  let button: ButtonEndpoint
  let notifications: NotificationEndpoint
  let keys: AssertionKeys
  let invitation: InvitationEndpoint
  let people: PeopleEndpoint
  let accessRequest: AccessRequestEndpoint

  /// The actions of all endpoints that the gate does not answer itself.
  var actions: [GatewayEndpoint: EndpointAction] {
    var actions: [GatewayEndpoint: EndpointAction] = [:]
    for endpoint in GatewayEndpoint.allCases { actions[endpoint] = action(of: endpoint) }
    return actions
  }

  /// Answers refused users who may ask for access; nil if nobody may.
  var refusal: AccessRefusal.Answer? { accessRequest.isEnabled ? accessRequest.refused : nil }

  private func action(of endpoint: GatewayEndpoint) -> EndpointAction? {
    switch endpoint {
    case .signIn: action([.get: authorize.signInPage])
    case .button: action([.get: button.image])
    case .authorize: action([.get: authorize.authorize], servesHead: false)
    case .callback: callbackAction
    case .signOut: action([.get: signOut.page, .post: signOut.signOut], bodyLimit: 16 * 1024)
    case .session: action([.get: session.session])
    case .account: action([.get: account.page, .post: account.end], bodyLimit: 4 * 1024)
    case .accountStop: action([.get: account.stopPage, .post: account.stop], bodyLimit: 4 * 1024)
    case .native: action([.post: native.signIn], bodyLimit: 32 * 1024)
    case .nativeExchange: action([.post: native.exchange], bodyLimit: 4 * 1024)
    case .notifications: action([.post: notifications.answer], bodyLimit: NotificationEndpoint.bodyLimit)
    case .keys: action([.get: keys.answer])
    case .invite: action([.get: invitation.page, .post: invitation.join], bodyLimit: 4 * 1024)
    case .people: action([.get: people.page, .post: people.act], bodyLimit: 16 * 1024)
    case .requestAccess: action([.get: accessRequest.page, .post: accessRequest.ask], bodyLimit: 16 * 1024)
    case .verify: nil
    }
  }

  /// Accepts Apple's answer in the configured response mode only: the other modes would put codes into URLs, and so
  /// into logs and histories, against the configuration.
  private var callbackAction: EndpointAction {
    let bodyLimit = 64 * 1024
    switch callback.apple.settings.responseMode {
    case .formPost: return action([.post: callback.post], bodyLimit: bodyLimit)
    case .query, .fragment:
      return action([.get: callback.get, .post: callback.post], servesHead: false, bodyLimit: bodyLimit)
    }
  }

  /// - Parameter servesHead: whether HEAD is answered like GET; not if GET has an effect.
  private func action(
    _ methods: [HTTPRequest.Method: @Sendable (ControlRequest) async -> ControlResponse], servesHead: Bool = true,
    bodyLimit: Int = 0
  ) -> EndpointAction {
    let pages = pages
    var methods = methods
    if servesHead, let get = methods[.get] { methods[.head] = get }
    let answers = methods
    return EndpointAction(bodyLimit: bodyLimit, routeClass: RouteLabel.own.rawValue) { request in
      guard let perform = answers[request.head.method] else {
        let allowed = answers.keys.map(\.rawValue).sorted().joined(separator: ", ")
        return pages.methodNotAllowed(request, allow: allowed)
      }
      return await perform(request)
    }
  }
}
