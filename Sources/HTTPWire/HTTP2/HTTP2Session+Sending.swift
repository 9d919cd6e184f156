internal import CNghttp2
package import NIOCore

/// Queues content, and turns it into frames.
extension HTTP2Session {
  /// Queues content. It is not copied: see ``HTTP2Stream/detachQueue()``.
  package func send(_ content: consuming ByteBuffer, on stream: HTTP2Stream) {
    guard stream.outgoing != .ended, content.readableBytes > 0 else { return }
    queuedBytes += content.readableBytes
    stream.queue.append(content)
    if stream.outgoing.proceed(to: .open) { resume(stream) }
  }

  /// Ends the content.
  /// - Parameter trailers: field lines, each ended by CR LF, already chosen; empty for none.
  package func end(_ stream: HTTP2Stream, trailers: [UInt8]) {
    guard stream.outgoing != .ended else { return }
    if !trailers.isEmpty { stream.trailers = trailers }
    if stream.outgoing.proceed(to: .ended) { resume(stream) }
  }

  /// Resets a stream. Queued content is not sent, and received content is not reported: nghttp2 continues a DATA frame
  /// that has begun, however long it is.
  package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    stream.isReset = true
    guard let pointer else { return }
    nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
  }

  /// Consumes received bytes: the peer may send as many again.
  /// - Returns: the number of bytes; fewer than `count` where fewer wait.
  func giveRoom(for count: Int, on stream: HTTP2Stream) -> Int {
    let count = min(count, stream.untaken)
    guard count > 0, let pointer else { return 0 }
    stream.untaken -= count
    untakenBytes -= count
    nghttp2_session_consume(pointer, stream.id, count)
    return count
  }

  private func resume(_ stream: HTTP2Stream) {
    guard let pointer else { return }
    nghttp2_session_resume_data(pointer, stream.id)
  }

  // MARK: For nghttp2

  /// Calls `body` with the provider of the content that follows a head; nil where none does.
  static func withProvider<Result>(
    _ read: nghttp2_data_source_read_callback?, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Result
  ) -> Result {
    guard let read else { return body(nil) }
    var provider = nghttp2_data_provider()
    provider.read_callback = read
    return body(&provider)
  }

  /// The bytes of content for the next frame; ``write(head:count:of:)`` writes them.
  func nextContent(of stream: HTTP2Stream, at most: Int, _ flags: inout UInt32) -> Int {
    let queued = stream.queuedBytes
    guard queued > 0 || stream.outgoing == .ended else {
      stream.outgoing = .starved
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    let count = min(queued, most)
    flags |= UInt32(NGHTTP2_DATA_FLAG_NO_COPY.rawValue)
    if count == queued, stream.outgoing == .ended {
      flags |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
      if !stream.trailers.isEmpty, submitTrailers(stream.trailers, on: stream) {
        flags |= UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
      }
    }
    return count
  }

  private func submitTrailers(_ lines: [UInt8], on stream: HTTP2Stream) -> Bool {
    var fields = HTTP2Fields()
    fields.append(lines: lines)
    guard let pointer, fields.count > 0 else { return false }
    return fields.withNameValues { list, count in nghttp2_submit_trailer(pointer, stream.id, list, count) } == 0
  }

  /// Writes a DATA frame straight into the output: its head, and content without a copy between.
  /// - Returns: whether there was content in it.
  func write(head: UnsafeRawBufferPointer, count: Int, of stream: HTTP2Stream) -> Bool {
    output.writeBytes(head)
    guard count > 0, var content = stream.queue.take(count) else { return false }
    output.writeBuffer(&content)
    queuedBytes -= count
    sentBytes &+= count
    return true
  }
}
