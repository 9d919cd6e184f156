internal import CNghttp2
package import NIOCore

/// One HTTP/2 connection without its socket: turns received bytes into events, and submitted messages into bytes. Owns
/// an `nghttp2_session`. Every session is a ``HTTP2ServerSession`` or a ``HTTP2ClientSession``.
///
/// ``receive(_:now:)`` reads bytes and calls the handlers; ``produce(into:limit:)`` writes pending frames into one
/// buffer. nghttp2 keeps the protocol state; ``HTTP2Policy`` and ``HTTP2HeadAssembly`` hold what it leaves to its user.
package class HTTP2Session {
  /// The limits for the peer.
  package final let policy: HTTP2Policy
  /// nil when the library had no memory for it, or when it is closed. nghttp2 takes no null pointer: each call is made
  /// behind a guard.
  final var pointer: OpaquePointer?
  /// The allocator of the `nghttp2_session`, which it must outlive.
  private let memory = HTTP2Memory()
  final var assembly: HTTP2HeadAssembly
  final var now: NIODeadline
  /// Bytes of content of all streams that wait to be sent.
  package final internal(set) var queuedBytes = 0
  /// Bytes of content of all streams that were written.
  package final internal(set) var sentBytes = 0
  /// Received bytes of content of all streams that were not consumed yet.
  package final internal(set) var untakenBytes = 0
  /// The buffer being read, and the address that nghttp2 has of it.
  final var input = ByteBuffer()
  final var inputStart: UnsafeRawPointer?
  /// The buffer being written.
  final var output = ByteBuffer()
  /// Whether the bytes being read held anything but unknown frames, which nghttp2 does not report.
  final var hasMeaning = false
  final var termination = HTTP2Termination.none
  private var call = LibraryCall.none

  /// Whether nghttp2 is running: its session must not be freed meanwhile.
  private enum LibraryCall {
    case none
    case running
    /// The session is to be closed when the call returns.
    case runningThenClose
  }

  init(_ policy: HTTP2Policy, isServer: Bool, now: NIODeadline) {
    self.policy = policy
    self.now = now
    assembly = HTTP2HeadAssembly(limits: policy.heads, isRequest: isServer)
    let user = Unmanaged.passUnretained(self).toOpaque()
    let callbacks = (isServer ? HTTP2Callbacks.server : .client).pointer
    var session: OpaquePointer?
    let options = (isServer ? HTTP2Options.server : .client).pointer
    var functions = memory.functions
    let made =
      isServer
      ? nghttp2_session_server_new3(&session, callbacks, user, options, &functions)
      : nghttp2_session_client_new3(&session, callbacks, user, options, &functions)
    pointer = made == 0 ? session : nil
  }

  final func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
    guard let pointer else { return }
    let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  deinit { nghttp2_session_del(pointer) }

  /// Has all streams together send as many bytes before they are taken as the policy allows.
  package final func widenConnectionWindow() {
    guard let pointer else { return }
    nghttp2_session_set_local_window_size(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, policy.connectionWindow)
  }

  // MARK: Bytes

  /// Reads received bytes.
  package final func receive(_ buffer: consuming ByteBuffer, now: NIODeadline) {
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
    hasRead(byteCount)
    terminateIfDue()
  }

  /// So many bytes were read.
  func hasRead(_ byteCount: Int) {}

  /// nghttp2 has returned.
  /// - Returns: whether the session is to be closed.
  private func endCall() -> Bool {
    defer { call = .none }
    return call == .runningThenClose
  }

  /// Appends pending frames to `buffer` until it holds at least `limit` bytes.
  package final func produce(into buffer: inout ByteBuffer, limit: Int) {
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
  package final var wantsToWrite: Bool { pointer != nil && nghttp2_session_want_write(pointer) != 0 }

  /// Whether nothing is left to read or write: the connection is closed once the output is sent.
  package final var isOver: Bool {
    pointer == nil || (nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0)
  }

  /// The error with which we ended the connection; nil otherwise.
  package final var endedBy: HTTP2ErrorCode? { termination.code }

  final func terminateIfDue() {
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

  // MARK: The end

  /// Closes all streams and frees the session: nothing is read or written afterwards.
  package final func close() {
    guard let pointer else { return }
    guard call == .none else {
      call = .runningThenClose
      return
    }
    self.pointer = nil
    closeStreams()
    nghttp2_session_del(pointer)
  }

  /// Closes all streams: the session is closed.
  func closeStreams() {}

  /// Frees memory that is not needed for now, unless nghttp2 is running.
  /// - Returns: whether it did.
  final func freeMemory() -> Bool {
    guard call == .none else { return false }
    assembly.release()
    memory.release()
    return true
  }
}
