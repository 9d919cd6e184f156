internal import CNghttp2
package import NIOCore

/// Who uses the server's side of a session. As for ``HTTP2StreamHandler``: called while the session reads.
package protocol HTTP2SessionHandler: AnyObject {
  /// A request's head is whole.
  /// - Parameters:
  ///   - head: the request as an HTTP/1.1 head, valid until this returns; ``HTTP2Session/takeRequest(into:)`` tells
  ///     what stands in it. Its body is framed by its length, or by `Transfer-Encoding` for want of one.
  ///   - isWhole: whether no body follows. An extended CONNECT is never whole.
  /// - Returns: who is told of what follows on the stream.
  func received(request head: RawSpan, on stream: HTTP2Stream, isWhole: Bool) -> any HTTP2StreamHandler
  /// A well-formed request that is to be answered with this status and nothing else.
  func received(refusableOn stream: HTTP2Stream, status: Int, reason: String)
    -> any HTTP2StreamHandler
  /// A malformed request (RFC 9113 8.1.1); its stream has been reset.
  func receivedMalformed(_ reason: String)
  /// The peer has answered our PING.
  func receivedPong()
}

/// One HTTP/2 connection without its socket: bytes in, events out; what is submitted, as bytes out. The owner of an
/// `nghttp2_session`.
///
/// ``receive(_:now:)`` reads what came and tells the handlers; ``produce(into:limit:)`` writes what is due, all in one
/// buffer. nghttp2 keeps the protocol's state; what it leaves to its user is in ``HTTP2Policy`` and
/// ``HTTP2HeadAssembly``.
package final class HTTP2Session {
  package let policy: HTTP2Policy
  let isServer: Bool
  /// Whose session it is; who outlives it. Not weak: that would make every retain of it a slow one.
  package unowned var handler: (any HTTP2SessionHandler)?
  /// nil when the library had no memory for it, or when it is closed.
  var pointer: OpaquePointer?
  /// nghttp2's; it must outlive the session there.
  private let memory = HTTP2Memory()
  var streams = HTTP2Streams()
  var assembly: HTTP2HeadAssembly
  var resets: HTTP2Budget
  var idleFrames: HTTP2Budget
  var now: NIODeadline
  /// Whether a stream has ended before its response did, because of the peer.
  package private(set) var hasBeenReset = false
  /// Content of all streams that waits to be sent.
  package internal(set) var queuedBytes = 0
  /// What is being read, and where nghttp2 sees it.
  var input = ByteBuffer()
  var inputStart: UnsafeRawPointer?
  /// What is being written.
  var output = ByteBuffer()
  /// Whether there was anything in what is being read but frames unknown to nghttp2, of which it does not tell.
  var hasMeaning = false
  /// Why the connection is to end.
  var verdict: HTTP2ErrorCode?
  private var isEnding = false
  /// Whether nghttp2 is at work, and must not lose what it works on.
  private var isBusy = false
  private var closesBehind = false
  /// The newest stream that the client has begun, and those that it has not ended.
  var newestStream: Int32 = 0
  var unended = UnendedStreams()
  /// Streams announced for tunnels.
  private var announcedTunnels: UInt32 = 0
  /// The stream whose section has begun and is not whole; 0 where there is none.
  var sectionOf: Int32 = 0

  /// The server's side.
  package convenience init(serverWith policy: HTTP2Policy, now: NIODeadline) {
    self.init(policy, isServer: true, now: now)
    submitSettings([
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, policy.concurrentStreams),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, policy.streamWindow),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(policy.heads.headBytes)),
      // WebSocket (RFC 8441 3).
      (NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1),
      // Nobody's tree of priorities (RFC 9218 2.1).
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

  /// A stream has become a tunnel, which may stay for hours: another takes its place among the streams at a time. What
  /// was announced is not taken back.
  package func becameTunnel(_ stream: HTTP2Stream) {
    stream.isTunnel = true
    let tunnels = UInt32(clamping: streams.all.count { $0.isTunnel })
    guard tunnels > announcedTunnels, announcedTunnels < policy.tunnelStreams else { return }
    announcedTunnels = min(announcedTunnels + policy.tunnelStep, policy.tunnelStreams)
    let entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
      value: policy.concurrentStreams + announcedTunnels)
    nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), [entry], 1)
  }

  private func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
    let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    nghttp2_session_set_local_window_size(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, policy.connectionWindow)
  }

  deinit { nghttp2_session_del(pointer) }

  // MARK: Bytes

  /// Reads what came.
  package func receive(_ buffer: ByteBuffer, now: NIODeadline) {
    guard let pointer, !isEnding else { return }
    self.now = now
    input = buffer
    isBusy = true
    hasMeaning = false
    let result = buffer.withUnsafeReadableBytes { bytes in
      inputStart = bytes.baseAddress
      return nghttp2_session_mem_recv(pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    inputStart = nil
    input = ByteBuffer()
    isBusy = false
    if closesBehind { return close() }
    if result < 0, verdict == nil { verdict = Self.code(Int32(result)) }
    if isServer, !hasMeaning { chargeFloodBudget(buffer.readableBytes) }
    terminateIfFailed()
  }

  /// A read without meaning is paid for by its length.
  private func chargeFloodBudget(_ byteCount: Int) {
    for _ in 0...byteCount / 1_024 where !idleFrames.spend(now) { verdict = verdict ?? .enhanceYourCalm }
  }

  /// Appends what is due to `buffer`, frame by frame, until it holds `limit` bytes or a frame more.
  package func produce(into buffer: inout ByteBuffer, limit: Int) {
    guard let pointer else { return }
    swap(&buffer, &output)
    isBusy = true
    while output.readableBytes < limit {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(pointer, &bytes)
      guard count > 0, let bytes else {
        if count < 0 { verdict = verdict ?? .internalError }
        break
      }
      output.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
    }
    swap(&buffer, &output)
    isBusy = false
    if closesBehind { return close() }
    terminateIfFailed()
  }

  /// Whether there is something to write.
  package var wantsToWrite: Bool { pointer != nil && nghttp2_session_want_write(pointer) != 0 }

  /// Whether the peer takes another request, at the client's side: it has not said GOAWAY, and allows a stream at all.
  package var takesRequests: Bool {
    guard let pointer else { return false }
    return nghttp2_session_check_request_allowed(pointer) != 0
      && nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) > 0
  }

  /// Whether all is said: the connection is to be closed once what was written is out.
  package var isOver: Bool {
    pointer == nil || (nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0)
  }

  /// What ended the connection, if it was not the peer; nil while all is well.
  package var endedBy: HTTP2ErrorCode? { verdict }

  /// A stream ends before its response does, because of the peer.
  /// - Returns: whether the peer may do so yet.
  func payForReset() -> Bool {
    hasBeenReset = true
    return resets.spend(now)
  }

  private func terminateIfFailed() {
    guard let verdict, !isEnding else { return }
    isEnding = true
    nghttp2_session_terminate_session(pointer, verdict.rawValue)
  }

  private static func code(_ error: Int32) -> HTTP2ErrorCode {
    switch error {
    case Int32(NGHTTP2_ERR_FLOODED.rawValue), Int32(NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue): .enhanceYourCalm
    case Int32(NGHTTP2_ERR_NOMEM.rawValue), Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue): .internalError
    default: .protocolError
    }
  }

  // MARK: Streams

  /// What the head says that is being handed out, read as ``RequestHeadParser`` would read it; once, and only before
  /// ``HTTP2SessionHandler/received(request:on:isWhole:)`` returns.
  package func takeRequest(into head: inout RequestHead) -> HeadParse { assembly.takeRequest(into: &head) }

  /// Whether a section has begun and is not whole.
  package var isWithinHead: Bool { sectionOf != 0 }

  /// What the section under way holds, roughly: it may have been written with more room than it needed.
  package var headMemory: Int { 2 * assembly.byteCount + 4_096 }

  /// How many streams are open.
  package var streamCount: Int { streams.count }

  /// Who uses the open streams.
  package var handlers: [any HTTP2StreamHandler] { streams.all.compactMap(\.handler) }

  /// The connection is gone: every stream is over, and nothing is read or written any more.
  package func close() {
    guard let pointer else { return }
    guard !isBusy else {
      closesBehind = true
      return
    }
    self.pointer = nil
    for stream in streams.removeAll() {
      let handler = stream.handler
      stream.handler = nil
      handler?.closed(HTTP2ErrorCode.cancel.rawValue)
    }
    nghttp2_session_del(pointer)
  }

  /// Lets go of memory that only a connection in use needs.
  package func rest() {
    guard !isBusy, !isWithinHead else { return }
    assembly.release()
    memory.release()
  }

  // MARK: The end of the connection

  /// Tells the peer to begin nothing more here (RFC 9113 6.8), and asks for a sign that it has heard it.
  package func beginGracefulShutdown() {
    nghttp2_submit_shutdown_notice(pointer)
    nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Says which stream was the last; the session is over when the streams are.
  package func goAway() {
    nghttp2_submit_goaway(
      pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(pointer),
      HTTP2ErrorCode.noError.rawValue, nil, 0)
  }

  /// Ends all streams at once.
  package func terminate(_ code: HTTP2ErrorCode) {
    verdict = verdict ?? code
    terminateIfFailed()
  }
}
