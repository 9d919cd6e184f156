internal import HTTPWire
internal import NIOCore

/// One request and its response on a stream of an HTTP/2 connection: what ``HTTP1ServerConnection`` is for HTTP/1.1.
///
/// The steps that both have in common are ``Exchange``'s; this file holds the stream's life, the way of the request and
/// of the response are in the files beside it.
final class HTTP2ServerStream: TimedHandler, ExchangeClient, HTTP2StreamHandler {
  /// How far the request has come.
  enum Phase {
    /// The head waits to be judged: the gate has asked for time, or the rest of what was read is looked at first.
    case deciding
    /// The head is judged, the body is being read.
    case content
    /// The request is whole, its response is not.
    case complete
    /// The application has been asked to switch protocols, and has not yet.
    case switching
    /// Bytes go both ways as they come (RFC 8441).
    case tunnel
    case closed
  }

  let connection: HTTP2ServerConnection
  let server: ServerContext
  let stream: HTTP2Stream
  var phase = Phase.complete
  var exchange = Exchange()
  var upstream: UpstreamConnection?
  /// What it carries after a switch of protocols.
  var tunnel: Tunnel?
  /// The head, while it waits to be judged.
  var pendingHead: ByteBuffer?
  /// The end of the request, if it came before it was judged: its trailers.
  var pendingEnd: [UInt8]?
  /// Whether the request is to be judged as soon as all that was read has been looked at.
  var isPostponed = false
  /// Whether the request is to be sent as soon as all that was read has been looked at.
  var startIsDue = false
  /// How fast the client takes what waits for it, while something does: then the deadline is for that.
  private var pace: ResponsePace?
  /// Whether the connection looks, once it has sent what is due, if all that was queued has left.
  private var isQueuing = false

  /// Bytes of a response that wait for the client before the application is not read any more.
  private static let queueLimit = 64 * 1024
  /// From so many on what is queued is sent at once.
  static let eagerFlush = 32 * 1024

  init(connection: HTTP2ServerConnection, stream: HTTP2Stream) {
    self.connection = connection
    server = connection.server
    self.stream = stream
  }

  /// Who is asking: the client behind a trusted proxy that names one, else the peer.
  var client: ClientPeer { exchange.client ?? connection.peer }

  /// Whose session it is.
  var session: ConnectionKey? { exchange.isUnderWay ? exchange.session : nil }

  // MARK: Back-pressure

  var canTakeResponse: Bool { connection.isWritable && hasRoom }
  var takesBulk: Bool { false }

  private var hasRoom: Bool {
    stream.queuedBytes == 0 || (stream.queuedBytes < Self.queueLimit && connection.takesMore())
  }

  func sentContent() {
    if stream.queuedBytes == 0 {
      if pace != nil {
        server.loop.wheel.disarm(self)
        pace = nil
      }
      awaitTunnelEnd(connection.now)
    }
    if hasRoom { upstream?.holdReads(false) }
  }

  /// Something was queued: a client that takes nothing of it must not hold it for ever.
  func hasQueued() {
    guard !isQueuing, pace == nil else { return }
    isQueuing = true
    connection.awaitRoomBehindSending(self)
  }

  /// What was due has been sent; what has not left by now waits for the client.
  func awaitRoom(_ now: NIODeadline) {
    isQueuing = false
    guard phase != .closed, stream.queuedBytes > 0 else { return }
    pace = ResponsePace(sent: exchange.sentBytes, waiting: stream.queuedBytes, at: now)
    awaitClient(now)
  }

  private func awaitClient(_ now: NIODeadline) {
    server.loop.wheel.arm(self, after: min(server.waits.writeProgress, ResponsePace.interval), now: now)
  }

  /// Looks whether the client takes what waits for it fast enough.
  private func judgePace() {
    let now = NIODeadline.now()
    let verdict = pace?.look(
      sent: exchange.sentBytes, waiting: stream.queuedBytes, at: now,
      rate: phase == .tunnel ? 0 : server.responseRate, grace: server.waits.bodyGrace,
      patience: server.waits.writeProgress)
    if verdict == .isOver { breakOff() } else { awaitClient(now) }
  }

  /// The client's channel can take more again.
  func clientTakesMore() { if hasRoom { upstream?.holdReads(false) } }

  func upstreamWritabilityChanged(_ writable: Bool) {
    guard phase != .closed else { return }
    if phase == .content { exchange.countHold(!writable) }
    guard writable else { return }
    takeAll()
    if phase == .content { awaitContent(.now()) }
  }

  /// Gives the client room for as much as it has sent so far: the application has taken that.
  func takeAll() {
    guard stream.untaken > 0 else { return }
    connection.session.take(stream.untaken, on: stream)
    connection.flushSoon()
  }

  // MARK: Time

  /// The least that a body has to come on. Once there is a response it may take as long as it likes: streams in both
  /// directions are made of pauses.
  func awaitContent(_ now: NIODeadline) {
    guard !exchange.responseBegan else { return }
    server.loop.wheel.arm(self, after: server.waits.bodyProgress, now: now)
  }

  override func timedOut() {
    if pace != nil { return judgePace() }
    switch phase {
    case .content where !exchange.responseBegan && exchange.bodyHeldSince != nil:
      refuse(504, "the application did not take the request body in time")
    case .content where !exchange.responseBegan: refuse(408, "the request body did not arrive in time")
    // The application has had its time to answer a client that has ended its side.
    case .tunnel where upstream != nil && stream.isEndReceived: closeTunnel()
    default: breakOff()
    }
  }

  // MARK: Ends

  /// Ends an exchange whose session has ended: a WebSocket is told, what else is under way is cut off.
  func endWithSession(at now: NIODeadline) {
    if phase == .tunnel { forbidTunnel(at: now) } else { breakOff() }
  }

  /// Ends the exchange if it may not go on.
  /// - Returns: whether it belongs to a session.
  func review(at now: NIODeadline) -> Bool {
    guard exchange.isReviewable, phase != .closed, !stream.isReset else { return false }
    if let forbidden = tunnel?.forbidden {
      if now - forbidden >= Exchange.reviewAge { breakOff() }
    } else if !exchange.review(at: now, by: server, from: connection.peer, tunnel: tunnel) {
      endWithSession(at: now)
    }
    return true
  }

  /// Ends the stream at once, in the middle of whatever it does.
  func breakOff() {
    if exchange.failure == nil { exchange.failure = .cutOff }
    reset(.cancel)
  }

  func reset(_ code: HTTP2ErrorCode) {
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    connection.session.reset(stream, code)
    connection.flushSoon()
  }

  func closed(_ code: UInt32) {
    guard phase != .closed else { return }
    phase = .closed
    exchange.leaveQueue()
    server.loop.wheel.remove(self)
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    pendingHead = nil
    exchange.waitingContent = nil
    guard exchange.isUnderWay else { return }
    // Either side may end a tunnel: that is how one ends.
    if !stream.isEndSent, exchange.status != 101, exchange.failure == nil { exchange.failure = .clientLeft }
    if exchange.status == 0 { exchange.status = 499 }
    exchange.report(to: server, from: connection.peer, at: connection.now)
    exchange.returnSentHead(to: server.loop)
  }
}
