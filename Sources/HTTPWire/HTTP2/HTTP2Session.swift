internal import CNghttp2
package import NIOCore

/// Receives the events of a server session. As with ``HTTP2StreamHandler``, called while the session reads.
package protocol HTTP2SessionHandler: AnyObject {
  /// Called when a request head is complete.
  /// - Parameters:
  ///   - head: the request as an HTTP/1.1 head, valid until this returns; ``HTTP2Session/takeRequest(into:)`` parses
  ///     it. Its body is framed by its length, or by `Transfer-Encoding` without one.
  ///   - isWhole: whether no body follows. An extended CONNECT is never whole.
  /// - Returns: the handler of the stream.
  func received(request head: RawSpan, on stream: HTTP2Stream, isWhole: Bool) -> any HTTP2StreamHandler
  /// Called for a well-formed request that must be answered with this status.
  /// - Parameter head: what was read of the request, as lines of an HTTP/1.1 head, valid until this returns; empty if
  ///   it did not get that far.
  func received(refusableOn stream: HTTP2Stream, head: RawSpan, status: Int, reason: String)
    -> any HTTP2StreamHandler
  /// Called for a malformed request (RFC 9113, 8.1.1), whose stream has been reset.
  func receivedMalformed(_ reason: String)
  /// Called when the peer has acknowledged our PING.
  func receivedPong()
}

/// One HTTP/2 connection without its socket: turns received bytes into events, and submitted messages into bytes. Owns
/// an `nghttp2_session`.
///
/// ``receive(_:now:)`` reads bytes and calls the handlers; ``produce(into:limit:)`` writes pending frames into one
/// buffer. nghttp2 keeps the protocol state; ``HTTP2Policy`` and ``HTTP2HeadAssembly`` hold what it leaves to its user.
package final class HTTP2Session {
  /// The limits for the peer.
  package let policy: HTTP2Policy
  let isServer: Bool
  /// The owner, which outlives the session. Not weak: that would make every retain of it slow.
  package unowned var handler: (any HTTP2SessionHandler)?
  /// nil when the library had no memory for it, or when it is closed. nghttp2 takes no null pointer: each call is made
  /// behind a guard.
  var pointer: OpaquePointer?
  /// The allocator of the `nghttp2_session`, which it must outlive.
  private let memory = HTTP2Memory()
  var streams = HTTP2Streams()
  /// Closed ones that serve the client's next requests (server).
  var spare = HTTP2SpareStreams()
  var assembly: HTTP2HeadAssembly
  var resets: HTTP2Budget
  var idleFrames: HTTP2Budget
  var now: NIODeadline
  /// Whether a stream has ended before its response did, because of the peer.
  package private(set) var hasBeenReset = false
  /// Bytes of content of all streams that wait to be sent.
  package internal(set) var queuedBytes = 0
  /// Memory of the response heads of all streams that wait to be sent.
  package internal(set) var queuedHeads = 0
  /// Those of closed streams among them, by stream: nghttp2 keeps them until it is their turn to be written.
  var orphanedHeads: [Int32: [Int]] = [:]
  /// Bytes of content of all streams that were written.
  package internal(set) var sentBytes = 0
  /// Received bytes of content of all streams that were not consumed yet.
  package internal(set) var untakenBytes = 0
  /// Bytes that may still come for streams that ended before their client's side did, and cost it nothing.
  var pardonedBytes = 0
  /// The buffer being read, and the address that nghttp2 has of it.
  var input = ByteBuffer()
  var inputStart: UnsafeRawPointer?
  /// The buffer being written.
  var output = ByteBuffer()
  /// Whether the bytes being read held anything but unknown frames, which nghttp2 does not report.
  var hasMeaning = false
  var termination = HTTP2Termination.none
  private var call = LibraryCall.none
  /// The streams that the client has begun (server).
  var begun = BegunStreams()
  /// Streams announced for tunnels.
  private var announcedTunnels: UInt32 = 0
  /// The stream of the field section being received; 0 for none.
  var sectionOf: Int32 = 0

  /// Whether nghttp2 is running: its session must not be freed meanwhile.
  private enum LibraryCall {
    case none
    case running
    /// The session is to be closed when the call returns.
    case runningThenClose
  }

  /// The server's side. The connection has the protocol's window of 65,535 bytes at first; see
  /// ``widenConnectionWindow()``.
  package convenience init(serverWith policy: HTTP2Policy, now: NIODeadline) {
    self.init(policy, isServer: true, now: now)
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

  /// The client's side.
  package convenience init(clientWith policy: HTTP2Policy, now: NIODeadline) {
    self.init(policy, isServer: false, now: now)
    submitSettings([
      (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, policy.streamWindow),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(policy.heads.headBytes)),
    ])
    widenConnectionWindow()
  }

  private init(_ policy: HTTP2Policy, isServer: Bool, now: NIODeadline) {
    self.policy = policy
    self.isServer = isServer
    self.now = now
    assembly = HTTP2HeadAssembly(limits: policy.heads, isRequest: isServer)
    resets = HTTP2Budget(policy.resets, now: now)
    idleFrames = HTTP2Budget(policy.idleFrames, now: now)
    let user = Unmanaged.passUnretained(self).toOpaque()
    let callbacks = HTTP2Callbacks.ours.pointer
    var session: OpaquePointer?
    let options = (isServer ? HTTP2Options.server : .client).pointer
    var functions = memory.functions
    let made =
      isServer
      ? nghttp2_session_server_new3(&session, callbacks, user, options, &functions)
      : nghttp2_session_client_new3(&session, callbacks, user, options, &functions)
    pointer = made == 0 ? session : nil
  }

  /// Raises the announced number of streams for one that has become a tunnel, which may stay for hours. The number is
  /// never lowered.
  package func becameTunnel(_ stream: HTTP2Stream) {
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

  private func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
    guard let pointer else { return }
    let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  deinit { nghttp2_session_del(pointer) }

  /// Has all streams together send as many bytes before they are taken as the policy allows.
  package func widenConnectionWindow() {
    guard let pointer else { return }
    nghttp2_session_set_local_window_size(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, policy.connectionWindow)
  }

  // MARK: Bytes

  /// Reads received bytes.
  package func receive(_ buffer: consuming ByteBuffer, now: NIODeadline) {
    guard let pointer, !termination.isAnnounced else { return }
    self.now = now
    let byteCount = buffer.readableBytes
    // Content is a slice of it.
    input = buffer
    call = .running
    hasMeaning = false
    let result = input.withUnsafeReadableBytes { bytes in
      inputStart = bytes.baseAddress
      return nghttp2_session_mem_recv(pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    inputStart = nil
    input = ByteBuffer()
    if endCall() { return close() }
    if result < 0 { termination.demand(Self.code(Int32(result))) }
    if isServer, !hasMeaning { chargeFloodBudget(byteCount) }
    terminateIfDue()
  }

  /// nghttp2 has returned.
  /// - Returns: whether the session is to be closed.
  private func endCall() -> Bool {
    defer { call = .none }
    return call == .runningThenClose
  }

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
  func pardon(_ stream: HTTP2Stream) {
    guard isServer, stream.isReset, !stream.isEndReceived else { return }
    let window = window(of: stream)
    let limit = Int(policy.concurrentStreams) * Int(policy.streamWindow)
    pardonedBytes = min(pardonedBytes + window + window / 128, limit)
  }

  /// The number of streams with content that waits to be sent.
  package var waitingStreams: Int { streams.all.count { $0.queuedBytes > 0 } }

  /// Whether the client lets a stream send content.
  package func hasWindow(_ stream: HTTP2Stream) -> Bool {
    guard let pointer else { return false }
    return nghttp2_session_get_stream_remote_window_size(pointer, stream.id) > 0
  }

  /// Appends pending frames to `buffer` until it holds at least `limit` bytes.
  package func produce(into buffer: inout ByteBuffer, limit: Int) {
    guard let pointer else { return }
    swap(&buffer, &output)
    call = .running
    while output.readableBytes < limit {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(pointer, &bytes)
      guard count > 0, let bytes else {
        if count < 0 { termination.demand(.internalError) }
        break
      }
      output.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
    }
    swap(&buffer, &output)
    if endCall() { return close() }
    terminateIfDue()
  }

  /// Whether there is something to write.
  package var wantsToWrite: Bool { pointer != nil && nghttp2_session_want_write(pointer) != 0 }

  /// Whether a client session can send another request: the peer has not sent GOAWAY, and allows streams.
  package var takesRequests: Bool {
    guard let pointer else { return false }
    return nghttp2_session_check_request_allowed(pointer) != 0
      && nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) > 0
  }

  /// Whether nothing is left to read or write: the connection is closed once the output is sent.
  package var isOver: Bool {
    pointer == nil || (nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0)
  }

  /// The error with which we ended the connection; nil otherwise.
  package var endedBy: HTTP2ErrorCode? { termination.code }

  /// Charges the reset budget for a stream that the peer ended before its response.
  /// - Returns: whether the budget allowed it.
  func chargeResetBudget() -> Bool {
    hasBeenReset = true
    return resets.spend(now)
  }

  private func terminateIfDue() {
    guard let pointer, let code = termination.announce() else { return }
    nghttp2_session_terminate_session(pointer, code.rawValue)
  }

  private static func code(_ error: Int32) -> HTTP2ErrorCode {
    switch error {
    case Int32(NGHTTP2_ERR_FLOODED.rawValue), Int32(NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue): .enhanceYourCalm
    case Int32(NGHTTP2_ERR_NOMEM.rawValue), Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue): .internalError
    default: .protocolError
    }
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

  /// Closes all streams and frees the session: nothing is read or written afterwards.
  package func close() {
    guard let pointer else { return }
    guard call == .none else {
      call = .runningThenClose
      return
    }
    self.pointer = nil
    spare.removeAll()
    for stream in streams.removeAll() {
      stream.isClosed = true
      stream.handler.take()?.closed(HTTP2ErrorCode.cancel.rawValue)
    }
    nghttp2_session_del(pointer)
  }

  /// Frees memory that an idle connection does not need.
  package func shrink() {
    guard call == .none, !isWithinHead else { return }
    assembly.release()
    spare.removeAll()
    memory.release()
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
