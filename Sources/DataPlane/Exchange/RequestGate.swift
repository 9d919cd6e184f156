package import HTTPTypes
package import HTTPWire
package import NIOCore

/// Decides what becomes of each request. One gate serves one event loop and is called on that loop only, so it needs no
/// lock; it must not block.
package protocol RequestGate: AnyObject {
  /// Decides on a request from its head alone.
  /// - Parameters:
  ///   - head: the positions of the parts in `bytes`.
  ///   - bytes: the head as it came; valid during the call.
  ///   - client: who is asking.
  ///   - requestID: what the log and the upstream call the request.
  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision

  /// The action of an endpoint as it is now, when the whole request has come: a client may have held its body back
  /// until the configuration that decided on its head was replaced.
  /// - Returns: nil if there is no such endpoint any longer.
  func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction?

  /// The answer to a request that the data plane cannot carry out.
  /// - Parameters:
  ///   - status: an error status of RFC 9110.
  ///   - reason: what went wrong, for the log and the page's small print.
  ///   - preferences: what its client would like to read.
  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse

  /// The answer to a request that was forwarded, may not continue, and has no response yet. The upstream may have acted
  /// on it.
  /// - Parameter credential: ``ForwardingDirective/credential`` of the request.
  func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse

  /// Decides whether an exchange that is under way may continue, as its request would be decided on now. Called about
  /// once a second for each that is older than a second.
  /// - Returns: nil if it may continue.
  func review(_ exchange: inout OpenExchange) -> ExchangeEnding?

  /// Every exchange of a listener has been reviewed.
  /// - Returns: whether the gate waits for an answer, so that the next review should come soon.
  func reviewEnded() -> Bool
}

extension RequestGate {
  /// The default of a gate whose configuration is never replaced: the action is still the right one.
  package func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction? { action }
  /// The default of a gate without sessions: every exchange may continue.
  package func review(_ exchange: inout OpenExchange) -> ExchangeEnding? { nil }
  /// The default: 503 by ``failure(status:reason:preferences:requestID:)``, whatever the ending.
  package func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    failure(
      status: 503, reason: "the request may not continue", preferences: preferences, requestID: requestID)
  }
  /// The default of a gate whose ``review(_:)`` asks nobody: it waits for no answer.
  package func reviewEnded() -> Bool { false }
}

/// The reason for which the gateway ends an exchange that it has forwarded. Its client is told unless a response has
/// begun.
package enum ExchangeEnding: Sendable, Hashable {
  /// Its session has ended, its credential is no longer accepted, or its route requires a session now: 401.
  case signInRequired
  /// The rules refuse its user or token now: 403.
  case forbidden
  /// Its route is closed to everybody now: 403.
  case closed
  /// The client's address is outside of the networks of its route now: 403.
  case outsideNetworks
  /// Its session may be valid, but the store cannot confirm it: 503.
  case unverifiable
}

/// An exchange under way, as its gate reviews it.
package struct OpenExchange {
  /// Its session; nil without one.
  package let session: ConnectionKey?
  /// ``ForwardingDirective/credential`` of its request.
  package let credential: UInt64
  /// The client.
  package let client: ClientPeer
  /// Its request's line, authority and `Destination`, written as a whole HTTP/1.1 head.
  package let head: ByteBuffer
  /// Whether the client has been active since the last review: bytes of a body, data frames of a WebSocket.
  package var isActive = false
  /// The gate's own number of the session and configuration that the request was last decided on by.
  package var evaluation = 0

  /// An exchange that was just forwarded: no activity, and no evaluation since.
  package init(session: ConnectionKey?, credential: UInt64, client: ClientPeer, head: ByteBuffer) {
    self.session = session
    self.credential = credential
    self.client = client
    self.head = head
  }
}

/// The gate's decision about a request. Moved, never copied: a copy would retain what it holds.
package enum GateDecision: ~Copyable {
  /// It goes upstream.
  case forward(ForwardingDirective)
  /// It is answered with this.
  case answer(ControlResponse, routeClass: Int)
  /// The same, after `log` was called with the address of the connection's peer: where a trusted proxy has named the
  /// client, the gate does not know the proxy, and wants to name it in the log. No other decision pays for that.
  case answerAndLog(ControlResponse, routeClass: Int, log: (_ peer: String) -> Void)
  /// Its body is read, up to a limit, and an endpoint answers.
  case handle(EndpointAction)
  /// It is suspended until the function has returned; then the gate decides again.
  case suspend(@Sendable () async -> Void)
}

extension GateDecision {
  /// Whether it is an answer, of which nothing is logged yet.
  package var isAnswer: Bool {
    switch self {
    case .answer: true
    default: false
    }
  }

  /// The same answer, of which `log` tells; any other decision as it is.
  package consuming func logging(_ log: @escaping (_ peer: String) -> Void) -> GateDecision {
    switch consume self {
    case .answer(let response, let routeClass): .answerAndLog(response, routeClass: routeClass, log: log)
    case let other: other
    }
  }
}

/// Directions for forwarding a request.
package struct ForwardingDirective: ~Copyable {
  /// The identity header lines of its user, nil without one.
  package var identity: SerializedIdentityHeaders?
  /// The route class that it is counted under.
  package var routeClass: Int
  /// The session of the request, so that its connections end with it.
  package var session: ConnectionKey?
  /// The credential of the request, in the gate's own terms: it gets this back with ``RequestGate/review(_:)``.
  package var credential: UInt64
  /// A pseudonym of the user, for the observer.
  package var user: UInt64?
  /// Whether an upgrade to another protocol may be passed on.
  package var allowsUpgrade: Bool
  /// The index of its upstream in the listener's list.
  package var upstream: Int
  /// Whether `Authorization` was for the gateway, and goes no further.
  package var dropsAuthorization: Bool
  /// Whether method-override headers are removed: the gate has decided by the method, and an application that takes
  /// another from them would carry out what was not decided on.
  package var dropsMethodOverride: Bool
  /// The least rate of its body in bytes per second, 0 for none; nil where the route does not say.
  package var bodyRate: Int?
  /// Whole field lines, each ended by CR LF, that the response gets for this client alone. Left out where a shared
  /// cache may keep the response.
  package var privateLines: [UInt8]?
  /// The upstream's session cookies as they are bound to the account of the request; nil if it has none.
  package var binding: CookieBinding?

  /// Directions with the defaults of a public route: no identity, nothing removed, the default upstream.
  package init(
    identity: SerializedIdentityHeaders? = nil, routeClass: Int, session: ConnectionKey? = nil,
    credential: UInt64 = 0, user: UInt64? = nil, allowsUpgrade: Bool = false, upstream: Int = 0,
    dropsAuthorization: Bool = false, dropsMethodOverride: Bool = false, bodyRate: Int? = nil,
    privateLines: [UInt8]? = nil, binding: CookieBinding? = nil
  ) {
    self.identity = identity
    self.routeClass = routeClass
    self.session = session
    self.credential = credential
    self.user = user
    self.allowsUpgrade = allowsUpgrade
    self.upstream = upstream
    self.dropsAuthorization = dropsAuthorization
    self.dropsMethodOverride = dropsMethodOverride
    self.bodyRate = bodyRate
    self.privateLines = privateLines
    self.binding = binding
  }
}

/// Names a session within the process; nothing can be derived from it.
package struct ConnectionKey: Hashable, Sendable {
  /// The first 64 of 128 bits.
  package let high: UInt64
  /// The other 64.
  package let low: UInt64

  /// The 128 bits in two halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// A request that the control plane answers.
package struct EndpointAction: Sendable {
  /// Most bytes of its body. A larger one is answered 413 before it is read.
  package var bodyLimit: Int
  /// The route class that it is counted under.
  package var routeClass: Int
  /// Answers it.
  package var handle: @Sendable (ControlRequest) async -> ControlResponse
  /// The name of the endpoint in the gate's own terms: it gets this back with ``RequestGate/present(_:for:)``. nil for
  /// an action that no configuration has.
  package var endpoint: String?

  /// An action that no configuration names; set ``endpoint`` for one that ``RequestGate/present(_:for:)`` is to look
  /// up.
  package init(
    bodyLimit: Int, routeClass: Int, handle: @escaping @Sendable (ControlRequest) async -> ControlResponse
  ) {
    self.bodyLimit = bodyLimit
    self.routeClass = routeClass
    self.handle = handle
  }
}

/// A whole request, as the control plane sees it.
package struct ControlRequest: Sendable {
  /// Method, scheme, authority, path with query, and fields.
  package var head: HTTPRequest
  /// The body.
  package var body: [UInt8]
  /// The client.
  package var client: ClientPeer
  /// The request ID, as in `X-Request-Id` and the log.
  package var requestID: String

  /// A request whose body has come in full and is within ``EndpointAction/bodyLimit``.
  package init(head: HTTPRequest, body: [UInt8] = [], client: ClientPeer, requestID: String) {
    self.head = head
    self.body = body
    self.client = client
    self.requestID = requestID
  }
}

/// A whole response of the gateway's own.
package struct ControlResponse: Sendable {
  /// Status and fields; `Content-Length` is added when it is sent.
  package var head: HTTPResponse
  /// The body.
  package var body: [UInt8]

  /// A response; without a body it is sent with `Content-Length: 0` where the status allows one.
  package init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    head = HTTPResponse(status: status, headerFields: fields)
    self.body = body
  }
}
