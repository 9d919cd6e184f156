internal import HTTPWire
internal import NIOCore

/// Content that a connection holds: counted by the loop, and bounded for all connections together.
extension HTTP2ServerConnection {
  /// Counts what waits for the client, after content was queued or is no longer: as content, as heads, or as frames
  /// that the system has not taken.
  @inline(__always)
  func countUnsent() {
    let waiting = session.queuedBytes + session.queuedHeads + (isWritable ? 0 : waitingFrames)
    if let count = unsent.change(to: waiting) { server.loop.unsent.hold(count, by: self) }
  }

  /// Counts what waits for applications, after content was received or is no longer held.
  @inline(__always)
  func countUnread() {
    if let count = unread.change(to: session.untakenBytes) { server.loop.unread.hold(count, by: self) }
  }

  /// Content was taken: the client may send more from now on, unless memory is scarce.
  func consumed() {
    countUnread()
    guard !hasWideWindow, !server.loop.unread.isScarce else { return }
    hasWideWindow = true
    session.widenConnectionWindow()
    flushSoon()
  }

  func endCounts() {
    if unsent.end() { server.loop.unsent.hold(0, by: self) }
    if unread.end() { server.loop.unread.hold(0, by: self) }
  }
}

extension HTTP2ServerConnection: ContentBudgetOwner {
  func giveUp(_ kind: ContentBudget.Kind) {
    switch kind {
    case .unsentResponses: _ = unsent.end()
    case .unreadBodies: _ = unread.end()
    }
    let bound = NIOLoopBound(self, eventLoop: server.loop.eventLoop)
    server.loop.eventLoop.execute { bound.value.abort(because: .enhanceYourCalm) }
  }
}
