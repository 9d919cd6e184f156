internal import HTTPWire
internal import Sessions

/// Finds the session of a request: from the cookies and the bearer token of its head to the sessions of this loop. A
/// class, because every request uses it: a copy of a structure would retain all that it is made of. So would inlining
/// its methods: what an object calls is retained, unless it is a constant of its own.
final class SessionFinder {
  private let sessions: LoopSessions
  private let acceptsBearer: Bool
  private let keyring: SessionKeyring
  /// The name of session cookies.
  private let cookieName: [UInt8]

  init(_ sessions: LoopSessions, _ configuration: GateConfiguration) {
    self.sessions = sessions
    acceptsBearer = configuration.acceptsBearer
    keyring = configuration.keyring
    cookieName = configuration.keyring.cookies.sessionBytes
  }

  /// Looks up the bearer token of the request if we have signed it; it then counts alone, because no client sends one
  /// unasked. Otherwise looks up each session cookie: the first with a valid session counts.
  /// - Precondition: the request carries no machine token (``MachineTokenField``). With one it has no session, whatever
  ///   cookies came along.
  /// - Parameter waitsForRevalidation: whether to wait for an overdue revalidation; otherwise such a session is `none`.
  @inline(never)
  func find(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest, waitsForRevalidation: Bool = true
  ) -> LoopSessions.LookUp {
    if head.fields.has(.authorization) {
      if let token = ownToken(head, bytes, request) {
        request.token = .session
        if acceptsBearer {
          return sessions.find(
            bytes.extracting(token), on: request.site.scope, waitsForRevalidation: waitsForRevalidation)
        }
      } else if hasTokenForm(head, bytes) {
        request.token = .unusable
      }
    }
    var result = LoopSessions.LookUp.none
    // A span, because iterating over the array would retain it.
    let places = head.gatewayCookies.span
    for index in places.indices {
      let place = places[index]
      guard SessionCookie.isCandidate(place, bytes, named: cookieName) else { continue }
      switch sessions.find(
        bytes.extracting(place.value), on: request.site.scope, waitsForRevalidation: waitsForRevalidation)
      {
      case .none: continue
      case .known(let entry): return .known(entry)
      case .suspend(let work): return .suspend(work)
      case .storeUnavailable: result = .storeUnavailable
      }
    }
    return result
  }

  /// Whether any credential has the form of one of our tokens, under whatever scheme.
  private func hasTokenForm(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    for line in head.fields.lines where line.known == .authorization {
      let start = AuthorizationField.split(bytes, line.value).credential.lowerBound
      for start in [line.value.lowerBound, start] where start + SessionCookie.valueLength <= line.value.upperBound {
        if keyring.isInOurForm(bytes.extracting(start..<start + SessionCookie.valueLength)) { return true }
      }
    }
    return false
  }

  /// The place of a bearer token that we have signed for this host, whether its session is still valid or not.
  private func ownToken(_ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest) -> Range<Int>? {
    for line in head.fields.lines where line.known == .authorization {
      if let place = BearerToken.find(bytes, line.value),
        sessions.hasSigned(bytes.extracting(place), on: request.site.scope)
      {
        return place
      }
    }
    return nil
  }
}
