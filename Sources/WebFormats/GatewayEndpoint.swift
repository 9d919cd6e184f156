/// The gateway's own endpoints, with their paths below `path_prefix`.
package enum GatewayEndpoint: String, Sendable, CaseIterable {
  /// The page with Apple's button. On a `[[host]]`: begins a visit to the sign-in of `public_url`.
  case signIn = "sign-in"
  /// The image of Apple's button, from our own origin.
  case button
  /// Starts a sign-in: redirects to Apple's authorization endpoint.
  case authorize
  /// The redirect URI: receives Apple's authorization response.
  case callback
  /// GET asks whether to sign out, POST does.
  case signOut = "sign-out"
  /// The signed-in user as JSON, for scripts of the application.
  case session
  /// The signed-in user's data and sessions; POST ends one session, or all others.
  case account
  /// GET asks whether to stop using the application, POST deletes the account.
  case accountStop = "account/stop"
  /// For apps: exchanges Apple's token and code from the system's sign-in sheet for a session.
  case native
  /// For apps: exchanges the one-time code of a sign-in in the browser for a session.
  case nativeExchange = "native/exchange"
  /// Receives Apple's server-to-server notifications about accounts.
  case notifications
  /// The public keys of identity assertions, as a JWK set (RFC 7517, 5).
  case keys
  /// The gate's decision for another proxy (`auth_request`, forward-auth, ext_authz), as a status.
  case verify
  /// Invitations: `invite/CODE`.
  case invite
  /// The page on which managers decide requests for access, and see and change who may pass.
  case people
  /// POST: a signed-in user who is refused asks for access.
  case requestAccess = "request-access"
  /// The end of a visit to the sign-in of `public_url`, on the host where it began.
  case arrive
  /// The return to a form that was kept while its user signed in, and the query of its page for the account.
  case form

  /// The endpoint of a path below `path_prefix`, without the slash before it. A code follows `invite/`.
  package init?(name: String) {
    self.init(rawValue: name.utf8.starts(with: "invite/".utf8) ? GatewayEndpoint.invite.rawValue : name)
  }

  /// The whole path of the endpoint.
  /// - Parameter prefix: `path_prefix`, which begins with a slash and does not end with one.
  package func path(below prefix: String) -> String { "\(prefix)/\(rawValue)" }

  /// Whether a sign-in may lead back to the endpoint. Not to one that starts, ends or refuses a sign-in.
  package var mayBeReturnedTo: Bool {
    switch self {
    case .signIn, .authorize, .callback, .signOut, .native, .nativeExchange, .notifications, .arrive: false
    case .button, .session, .account, .accountStop, .keys, .verify, .invite, .people, .requestAccess, .form: true
    }
  }

  /// Whether the endpoint is a page for signed-in users: without a session the gate answers as for other pages, but for
  /// `POST account/stop`.
  package var needsSession: Bool {
    switch self {
    case .account, .accountStop: true
    case .signIn, .button, .authorize, .callback, .signOut, .session, .native, .nativeExchange, .notifications, .keys,
      .verify, .invite, .people, .requestAccess, .arrive, .form:
      false
    }
  }
}
