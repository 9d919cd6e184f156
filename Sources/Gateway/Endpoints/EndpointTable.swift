internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import WebFormats

/// The gateway's own endpoints on `public_url`, and the methods that each has.
struct EndpointTable: Sendable {
  let pages: EndpointPages
  let storeHealth: StoreHealth
  /// Nil for no limit.
  let signInLimit: SignInLimit?
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
  let keptForm: KeptFormEndpoint

  /// The endpoints for the gate.
  var endpoints: SiteEndpoints {
    var actions: [GatewayEndpoint: EndpointAction] = [:]
    for endpoint in GatewayEndpoint.allCases { actions[endpoint] = action(of: endpoint) }
    return SiteEndpoints(
      actions: actions, applicationSignOut: signOut.applicationAction, keepForm: keptForm.keeping,
      accessRequests: accessRequest.lookUps, stopAgain: action([.post: account.stopAgain], bodyLimit: 4 * 1024))
  }

  private func action(of endpoint: GatewayEndpoint) -> EndpointAction? {
    switch endpoint {
    case .signIn: action([.get: onceStoreIsOpen(authorize.signInPage)])
    case .button: button.action
    case .authorize: authorizeAction
    case .callback: callbackAction
    case .signOut: signOut.action
    case .session: session.action
    case .account: action([.get: account.page, .post: account.end], bodyLimit: 4 * 1024)
    case .accountStop: action([.get: account.stopPage, .post: account.stop], bodyLimit: 4 * 1024)
    case .native:
      action(
        [.post: pages.within(signInLimit, .native, json: true, counts: native.isFromApp, native.signIn)],
        bodyLimit: 32 * 1024)
    case .nativeExchange: action([.post: native.exchange], bodyLimit: 4 * 1024)
    case .notifications: action([.post: notifications.answer], bodyLimit: NotificationEndpoint.bodyLimit)
    case .keys: action([.get: keys.answer])
    case .invite: invitation.action(within: signInLimit)
    case .people: action([.get: people.page, .post: people.act], bodyLimit: 16 * 1024)
    case .requestAccess: accessRequest.action(within: signInLimit)
    case .form: keptForm.action
    case .verify, .arrive: nil
    }
  }

  /// Counts navigations only, because images and scripts start no sign-in.
  private var authorizeAction: EndpointAction {
    let handle = pages.within(
      signInLimit, .signIn, counts: { $0.isTopLevelNavigation }, onceStoreIsOpen(authorize.authorize))
    return action([.get: handle], servesHead: false)
  }

  /// Answers 503 until the store is open: a sign-in could not be completed before.
  private func onceStoreIsOpen(_ handle: @escaping EndpointHandler) -> EndpointHandler {
    let (storeHealth, pages) = (storeHealth, pages)
    return { request in
      storeHealth.hasAnswered ? await handle(request) : pages.failure(.storeUnavailable, request)
    }
  }

  /// Accepts Apple's answer in the configured response mode only: the other modes would put codes into URLs, and so
  /// into logs and histories. An attacker who begins a sign-in at Apple can choose another mode, so refusals also
  /// isolate the window from its opener.
  private var callbackAction: EndpointAction {
    let methods: [HTTPRequest.Method: EndpointHandler] =
      switch callback.responseMode {
      case .formPost: [.post: callback.post]
      case .query, .fragment: [.get: callback.get, .post: callback.post]
      }
    var action = action(methods, servesHead: false, bodyLimit: 64 * 1024)
    let handle = action.handle
    action.handle = { await handle($0).separatedFromOpener() }
    return action
  }

  private func action(
    _ methods: [HTTPRequest.Method: EndpointHandler], servesHead: Bool = true, bodyLimit: Int = 0
  ) -> EndpointAction {
    EndpointAction(methods, pages: pages, servesHead: servesHead, bodyLimit: bodyLimit)
  }
}
