internal import HTTPWire

/// A status and a reason with which the gateway itself answers a request that it does not carry out.
struct Refusal: Equatable {
  /// An error status of RFC 9110.
  let status: Int
  /// The reason for the log and for the small print of the page.
  let reason: String

  init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  /// A head that breaks HTTP or exceeds a limit.
  init(_ violation: HeadViolation) { self.init(violation.status, violation.rawValue) }

  /// A body whose chunks break HTTP.
  init(_ violation: ChunkViolation) { self.init(400, violation.rawValue) }

  /// An upstream that gave no response.
  init(_ failure: UpstreamFailure) { self.init(failure.status, failure.reason) }

  static let headTimeout = Refusal(408, "the request head did not arrive in time")
  static let headTruncated = Refusal(400, "the connection ended within the request head")
  /// With the fields that the gateway adds, the head could not be read again.
  static let headTooLarge = Refusal(431, "the request head is too large for the fields that the gateway adds")
  static let bodyTruncated = Refusal(400, "the connection ended within the request body")
  static let bodyTimeout = Refusal(408, "the request body did not arrive in time")
  static let bodyTooSlow = Refusal(408, "the request body arrives too slowly")
  static let bodyTooLarge = Refusal(413, "the request body is larger than the limit")
  /// The application cannot read a body without a length, and it is too long to be collected.
  static let lengthRequired = Refusal(
    411, "the application needs the length of the request body, which is larger than request_buffer")
  static let outsidePrefix = Refusal(404, "the path is outside of the upstream's strip_prefix")
  static let destinationOutsidePrefix = Refusal(
    403, "Destination is outside of the upstream's strip_prefix, the resource of another application")
  /// The upstream did not read the body, so that the client was not read either.
  static let bodyNotTaken = Refusal(504, "the application did not take the request body in time")
  static let noUpstream = Refusal(500, "no application is configured")
  static let tooMuchMemory = Refusal(503, "too much memory is held for requests that are not whole")
  /// Look-ups whose results cannot be used must not be repeated for as long as the client waits.
  static let undecided = Refusal(503, "the session of the request was looked up too often without a result")
  static let upgradeWithBody = Refusal(400, "a body in an upgrade request")
  /// Whether the data belong to HTTP or to the protocol that was asked for is open, and they must be taken for neither.
  static let upgradeWithSurplus = Refusal(400, "data after an upgrade request")
  /// An upgrade over HTTP/2 that was not asked for as one: its bytes would follow a head that announces none.
  static let unframedContent = Refusal(400, "content that the request does not announce")
  static let upgradeEnded = Refusal(400, "a WebSocket that its client has ended already")
  /// To an extended CONNECT any 2xx is a tunnel: an HTTP response must not be taken for one (RFC 8441, 5).
  static let upgradeAnswered = Refusal(502, "the application answered a WebSocket with something else")
  static let upgradeKeyIgnored = Refusal(502, "the application did not understand the WebSocket's key")
}
