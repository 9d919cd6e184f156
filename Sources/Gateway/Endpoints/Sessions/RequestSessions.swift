internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Sessions
internal import WebFormats

/// Looks up the sessions of the credentials in a request to an endpoint.
struct RequestSessions: Sendable {
  private let keyring: SessionKeyring
  /// The scope of the host that the requests are for.
  private let scope: CookieScope
  private let acceptsBearer: Bool
  private let sessions: SessionManager

  init(keyring: SessionKeyring, scope: CookieScope, native: NativeSettings, sessions: SessionManager) {
    self.keyring = keyring
    self.scope = scope
    acceptsBearer = native.acceptsBearer
    self.sessions = sessions
  }

  /// The names of the gateway's cookies.
  var cookies: CookieNames { keyring.cookies }

  /// The sessions of the request's credentials, whether they are still valid or not: only that of its bearer token, if
  /// we have signed it; otherwise those of its cookies. None if it carries a machine token.
  func identifiers(_ request: ControlRequest) -> [SessionIdentifier] {
    if MachineTokenField.isCarried(by: request) { return [] }
    if let bearer = bearer(request) { return [bearer] }
    return ofCookies(request)
  }

  /// The sessions that signing out ends: only that of its bearer token, if we have signed it; otherwise those of its
  /// cookies. A machine token makes no difference: it has no session, and once a user has entered one, the browser
  /// sends it with every request (`Basic`).
  func endedBySigningOut(_ request: ControlRequest) -> [SessionIdentifier] {
    bearer(request).map { [$0] } ?? ofCookies(request)
  }

  /// The sessions of the request's cookies, whatever else it carries: each once, and at most
  /// `RequestCookies.mostAlike`. Each may cost a store operation, and a client can repeat one signed cookie as often as
  /// it fits into a header. A browser has one; cookies that we have not signed do not count.
  func ofCookies(_ request: ControlRequest) -> [SessionIdentifier] {
    var (found, handles) = ([SessionIdentifier](), Set<PublicSessionID>())
    for value in RequestCookies(request.head.headerFields).all(cookies.session) {
      guard let verified = keyring.verifyCookie(Array(value.utf8), on: scope),
        handles.insert(verified.identifier.handle).inserted
      else { continue }
      found.append(verified.identifier)
      if found.count == RequestCookies.mostAlike { break }
    }
    return found
  }

  /// The session of a bearer token that we have signed, if such tokens are accepted.
  func bearer(_ request: ControlRequest) -> SessionIdentifier? {
    guard acceptsBearer else { return nil }
    for value in request.head.headerFields[values: .authorization] {
      let value = Array(value.utf8)
      if let place = BearerToken.find(value.span.bytes, value.indices),
        let verified = keyring.verifyCookie(Array(value[place]), on: scope)
      {
        return verified.identifier
      }
    }
    return nil
  }

  /// Whether the user intends a request that changes something (CSRF protection): it comes from our own pages, or
  /// carries a bearer token. Browsers never send such a token by themselves, but send cookies with any request.
  func isIntended(_ request: ControlRequest, at origin: OriginSettings) -> Bool {
    bearer(request) != nil || request.isFromOwnPages(origin)
  }

  /// The ends of the session of the request's first valid credential; nil without one. Does not count as activity.
  func peek(_ request: ControlRequest) async throws(StoreError) -> (ends: Date, idleEnds: Date)? {
    for identifier in identifiers(request) {
      guard let session = try await sessions.peek(identifier)?.session else { continue }
      return (session.ends, session.lastSeen.advanced(by: sessions.idleTimeout))
    }
    return nil
  }

  /// The session of the request's first valid credential; nil without one. Does not count as activity.
  func peekSession(_ request: ControlRequest) async throws(StoreError) -> SessionSnapshot? {
    for identifier in identifiers(request) {
      if let found = try await sessions.peek(identifier) { return found }
    }
    return nil
  }

  /// The session of the request's first valid credential, looked up; nil without one.
  func find(_ request: ControlRequest) async throws(StoreError) -> SessionSnapshot? {
    try await current(request)?.snapshot
  }

  /// The session of the first valid credential with its identifier; nil without one.
  func current(_ request: ControlRequest) async throws(StoreError) -> IdentifiedSession? {
    try await first(of: identifiers(request))
  }

  /// The first valid session that signing out would end; nil without one.
  func findToSignOut(_ request: ControlRequest) async throws(StoreError) -> SessionSnapshot? {
    try await first(of: endedBySigningOut(request))?.snapshot
  }

  private func first(of identifiers: [SessionIdentifier]) async throws(StoreError) -> IdentifiedSession? {
    for identifier in identifiers {
      if let found = try await sessions.find(identifier) {
        return IdentifiedSession(identifier: identifier, snapshot: found)
      }
    }
    return nil
  }
}
