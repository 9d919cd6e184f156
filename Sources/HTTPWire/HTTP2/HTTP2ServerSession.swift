internal import CNghttp2
package import NIOCore

/// Receives the events of a server session. As with ``HTTP2StreamHandler``, called while the session reads.
package protocol HTTP2SessionHandler: AnyObject {
  /// Called when a request head is complete.
  /// - Parameters:
  ///   - head: the request as an HTTP/1.1 head, valid until this returns; ``HTTP2ServerSession/takeRequest(into:)``
  ///     parses it. Its body is framed by its length, or by `Transfer-Encoding` without one.
  ///   - isWhole: whether no body follows. An extended CONNECT is never whole.
  /// - Returns: the handler of the stream.
  func received(request head: RawSpan, on stream: HTTP2InboundStream, isWhole: Bool) -> any HTTP2StreamHandler
  /// Called for a well-formed request that must be answered with this status.
  /// - Parameter head: what was read of the request, as lines of an HTTP/1.1 head, valid until this returns; empty if
  ///   it did not get that far.
  func received(refusableOn stream: HTTP2InboundStream, head: RawSpan, status: Int, reason: String)
    -> any HTTP2StreamHandler
  /// Called for a malformed request (RFC 9113, 8.1.1), whose stream has been reset.
  func receivedMalformed(_ reason: String)
  /// Called when the peer has acknowledged our PING.
  func receivedPong()
}

/// The server's side of an HTTP/2 connection: receives requests, limits what their client costs, and sends responses.
package final class HTTP2ServerSession: HTTP2Session {
  /// The owner, which outlives the session. Not weak: that would make every retain of it slow.
  package unowned var handler: (any HTTP2SessionHandler)?
  var streams = HTTP2Streams<HTTP2InboundStream>()
  /// Closed ones that serve the client's next requests.
  var spare = HTTP2SpareStreams()
  /// The streams that the client has begun.
  var begun = BegunStreams()
  /// The stream of the field section being received; 0 for none.
  var sectionOf: Int32 = 0
  /// Memory of the response heads of all streams that wait to be sent.
  package internal(set) var queuedHeads = 0
  /// Those of closed streams among them, by stream: nghttp2 keeps them until it is their turn to be written.
  var orphanedHeads: [Int32: [Int]] = [:]
  /// Streams announced for tunnels.
  private var announcedTunnels: UInt32 = 0

  var resets: HTTP2Budget
  var idleFrames: HTTP2Budget
  /// Bytes by which the windows of the uploads under way have grown.
  var windowGrowth = 0
  /// Bytes that may still come for streams that ended before their client's side did, and cost it nothing.
  private var pardonedBytes = 0
  /// Whether a stream has ended before its response did, because of the peer.
  package private(set) var hasBeenReset = false

  /// The connection has the protocol's window of 65,535 bytes at first; see ``HTTP2Session/widenConnectionWindow()``.
  package init(_ policy: HTTP2Policy, now: NIODeadline) {
    resets = HTTP2Budget(policy.resets, now: now)
    idleFrames = HTTP2Budget(policy.idleFrames, now: now)
    super.init(policy, isServer: true, now: now)
    submitSettings([
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, policy.concurrentStreams),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, policy.streamWindow),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(policy.heads.headBytes)),
      // WebSocket (RFC 8441, 3).
      (NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1),
      // No RFC 7540 priorities (RFC 9218, 2.1).
      (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
    ])
  }

  // MARK: Streams

  /// Parses the request head being delivered, with the result of ``RequestHeadParser``. To be called once, before
  /// ``HTTP2SessionHandler/received(request:on:isWhole:)`` returns.
  package func takeRequest(into head: inout RequestHead) -> HeadParse { assembly.takeRequest(into: &head) }

  /// Takes the handler of the closed stream that the stream of the request being delivered was, to serve this one; nil
  /// where there was none.
  package func takeFormerHandler() -> AnyObject? { spare.takeHandler() }

  /// Whether a field section is incomplete.
  package var isWithinHead: Bool { sectionOf != 0 }

  /// Approximate memory of the incomplete section, whose buffers may be larger than its bytes.
  package var headMemory: Int { 2 * assembly.byteCount + 4_096 }

  /// The number of open streams.
  package var streamCount: Int { streams.count }

  /// The handlers of the open streams.
  package var handlers: [any HTTP2StreamHandler] { streams.all.compactMap(\.handler) }

  /// The number of streams with content that waits to be sent.
  package var waitingStreams: Int { streams.all.count { $0.queuedBytes > 0 } }

  /// Whether the client lets a stream send content.
  package func hasWindow(_ stream: HTTP2InboundStream) -> Bool {
    guard let pointer else { return false }
    return nghttp2_session_get_stream_remote_window_size(pointer, stream.id) > 0
  }

  /// Raises the announced number of streams for one that has become a tunnel, which may stay for hours. The number is
  /// never lowered.
  package func becameTunnel(_ stream: HTTP2InboundStream) {
    stream.isTunnel = true
    guard let pointer else { return }
    let tunnels = UInt32(clamping: streams.all.count { $0.isTunnel })
    guard tunnels > announcedTunnels, announcedTunnels < policy.tunnelStreams else { return }
    announcedTunnels = min(announcedTunnels + policy.tunnelStep, policy.tunnelStreams)
    let entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
      value: policy.concurrentStreams + announcedTunnels)
    nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), [entry], 1)
  }

  override func closeStreams() {
    spare.removeAll()
    for stream in streams.removeAll() {
      stream.isClosed = true
      stream.handler.take()?.closed(HTTP2ErrorCode.cancel.rawValue)
    }
  }

  /// Frees memory that an idle connection does not need.
  package func shrink() {
    guard !isWithinHead, freeMemory() else { return }
    spare.removeAll()
  }

  // MARK: The client's budgets

  override func hasRead(_ byteCount: Int) { if !hasMeaning { chargeFloodBudget(byteCount) } }

  /// Charges the flood budget for a read that held only unknown frames and content of streams that are over, one unit
  /// per KiB.
  private func chargeFloodBudget(_ byteCount: Int) {
    let pardoned = min(pardonedBytes, byteCount)
    pardonedBytes -= pardoned
    guard byteCount > pardoned else { return }
    for _ in 0...(byteCount - pardoned) / 1_024 where !idleFrames.spend(now) { termination.demand(.enhanceYourCalm) }
  }

  /// Pardons what a client may have under way for a stream that we reset before its side had ended: what the windows
  /// let it send, framed.
  func pardon(_ stream: HTTP2InboundStream) {
    guard stream.isReset, !stream.isEndReceived else { return }
    let window = window(of: stream)
    let limit = Int(policy.concurrentStreams) * Int(policy.streamWindow)
    pardonedBytes = min(pardonedBytes + window + window / 128, limit)
  }

  /// Charges the reset budget for a stream that the peer ended before its response.
  /// - Returns: whether the budget allowed it.
  func chargeResetBudget() -> Bool {
    hasBeenReset = true
    return resets.spend(now)
  }

  // MARK: The end of the connection

  /// Announces the shutdown (GOAWAY without a limit; RFC 9113, 6.8), and sends a PING to learn when it was received.
  package func beginGracefulShutdown() {
    guard let pointer else { return }
    nghttp2_submit_shutdown_notice(pointer)
    nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Sends the final GOAWAY; the session is over once its streams are.
  package func goAway() {
    guard let pointer else { return }
    nghttp2_submit_goaway(
      pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(pointer),
      HTTP2ErrorCode.noError.rawValue, nil, 0)
  }

  /// Ends the connection with an error, and all streams with it.
  package func terminate(_ code: HTTP2ErrorCode) {
    termination.demand(code)
    terminateIfDue()
  }
}
