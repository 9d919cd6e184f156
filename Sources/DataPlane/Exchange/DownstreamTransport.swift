internal import HTTPWire
internal import NIOCore

/// The transport of one exchange at a time: a connection of HTTP/1.1, or a stream of HTTP/2.
///
/// These are the things that an exchange needs of it; framing, pipelining, windows and the end of a connection are its
/// own business. The driver, which performs the steps of ``Exchange``, is the extension of this protocol in
/// `Exchange/Driver`: it is specialized for each transport, so that no call goes through a table and no request
/// allocates an object.
protocol DownstreamTransport: TimedHandler, UpstreamResponseReceiver {
  var server: ServerContext { get }
  /// The loop of ``server``. A transport stores it: each look for it into the server would retain it.
  var loop: LoopResources { get }
  var peer: ClientPeer { get }
  var exchange: Exchange { get set }
  /// The speed at which the client takes what waits for it; nil while nothing waits. While it is set, the exchange's
  /// deadline is the client's.
  var pace: ResponsePace? { get set }
  /// Bytes that wait for the client.
  var unsentBytes: Int { get }
  /// Bytes of a head that was not parsed, for the preferences of an early refusal.
  var unparsedHead: ByteBuffer? { get }
  /// Whether bytes have come after the head that the gate decides on.
  var hasBytesBehindHead: Bool { get }

  // MARK: To the client

  /// Sends `100 Continue` (RFC 9110, 10.1.1), at once.
  func sendContinue()
  /// Sends an interim head of the upstream.
  func sendInterim(_ head: borrowing ResponseHead, _ bytes: RawSpan)
  /// Prepares the final head of the upstream's response.
  /// - Returns: whether it can be sent.
  func prepareHead(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool
  /// Sends the final head that was prepared. `framing` is that of its body.
  func sendHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming)
  /// Sends the prepared head that turns the exchange into a tunnel.
  func sendSwitch(_ head: borrowing ResponseHead, _ bytes: RawSpan)
  /// Sends content of a response or a tunnel; flushed by `flushResponse()`.
  func sendContent(_ content: consuming ByteBuffer)
  /// Sends the end of a response; flushes.
  func sendEnd(trailers: [UInt8])
  /// Sends a whole response of the gateway's own; flushes.
  func send(_ response: ControlResponse)
  /// Ends the gateway's side of a tunnel in order.
  func closeTunnel(clientMaySend: Bool)
  /// Aborts the exchange, so that its client cannot take the response for a whole one.
  func abortExchange(_ reason: AbortReason)

  // MARK: From the client

  /// Grants the client room for so many more bytes: they have been taken.
  func consume(_ count: Int)
  /// Grants the client room for all that it has sent.
  func consumeAll()
  /// Pauses or resumes reading the request's body.
  func pauseBody(_ pause: Bool)
  /// Flushes the upstream once all that was read has been looked at.
  func flushUpstreamAfterRead()
  /// Asks the gate again about the head that was kept.
  func authorizeAgain()
  /// Has the exchange reviewed from now on.
  func expectReviews()
}
