/// The gateway's own endpoints, with their paths below `path_prefix`.
package enum GatewayEndpoint: String, Sendable, CaseIterable {
  case signIn = "sign-in"
  case button
  case authorize
  case callback
  case signOut = "sign-out"
  case session
  case account
  case accountStop = "account/stop"
  case native
  case nativeExchange = "native/exchange"
  case notifications
  case keys
  case verify
  /// Invitations: `invite/CODE`.
  case invite
  case people
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

  /// Whether the endpoint is a page for signed-in users: without a session the gate answers as for other pages.
  package var needsSession: Bool {
    switch self {
    case .account, .accountStop: true
    case .signIn, .button, .authorize, .callback, .signOut, .session, .native, .nativeExchange, .notifications, .keys,
      .verify, .invite, .people, .requestAccess, .arrive, .form:
      false
    }
  }
}
