internal import HTTPWire
internal import NIOCore

/// What a client connection knows of the exchange under way.
struct Exchange {
  /// Whether there is one: from the whole head of a request to the end of its response.
  var isUnderWay = false
  /// When the head of the request was whole.
  var began = NIODeadline.distantPast
  /// When its response was out.
  var ended = NIODeadline.distantPast
  /// Whether a head has begun to arrive, and its time runs.
  var headHasBegun = false
  var requestID = RequestIDSource.Identifier(high: 0, low: 0)
  /// Method and path, where the observer wants them.
  var requestLine: ByteBuffer?

  // The request
  var routeClass = Exchange.noRoute
  /// The client behind a trusted proxy.
  var client: ClientPeer?
  var session: ConnectionKey?
  /// What proved it, in the gate's terms.
  var credential: UInt64 = 0
  /// What is kept for its reviews, once it has had one.
  var review: ExchangeReview?
  /// A pseudonym of the user, for the observer.
  var user: UInt64?
  var version = HTTPVersion.http11
  var isHead = false
  var method = RequestHead.Method.other
  /// Whether it is a call of gRPC.
  var isGRPC = false
  var keepAlive = true
  var decoder = BodyDecoder(RequestFraming.none)
  var isChunked = false
  var receivedBytes = 0
  /// The least rate of its body, where it is not the listener's.
  var bodyRate: Int?
  /// When the body was first wanted, and for how long it was not read since.
  var bodyBegan = NIODeadline.distantPast
  var bodyHeld = TimeAmount.zero
  var bodyHeldSince: NIODeadline?
  /// The head as it was sent upstream: for another try, for what the client accepts, and for the first review.
  var sentHead: ByteBuffer?
  /// Its place in the queue for a connection to the upstream.
  var place: UpstreamWaiter?
  /// Content that waits for the connection to the upstream.
  var waitingContent: ByteBuffer?
  /// The part of the body that was sent with the head, as ``waitingContent`` was, kept until the response begins where
  /// it may have to be sent again.
  var replay: ByteBuffer?
  /// The trailers of a body that ended before there was a connection to the upstream (HTTP/2).
  var requestTrailers: [UInt8] = []
  /// Whether the connection to the upstream ends behind the request.
  var endsUpstream = false
  /// Which upstream it goes to: the one that held when the gate decided, whatever holds by now.
  var balancer: UpstreamBalancer?
  /// What has been tried there.
  var attempts = RetryState()
  var upgrades = false
  /// Field lines for this client alone, to be added to the response.
  var personalLines: [UInt8]?
  /// What the control plane is to answer, while its body is being read.
  var control: ControlCollection?

  // The response
  var responseBegan = false
  var status = 0
  var chunksResponse = false
  var closesBehind = false
  var sentBytes = 0
  var upstreamBegan = NIODeadline.distantPast
  var upstreamDuration = TimeAmount.zero
  /// Why it does not end as it should.
  var failure: ExchangeFailure?

  /// The class of a request that was refused before the gate gave it one.
  static let noRoute = -1
}

/// A request on its way to the control plane. An object, so that connections do not hold room for one.
final class ControlCollection {
  let action: EndpointAction
  var request: ControlRequest

  init(action: EndpointAction, request: ControlRequest) {
    self.action = action
    self.request = request
  }
}
