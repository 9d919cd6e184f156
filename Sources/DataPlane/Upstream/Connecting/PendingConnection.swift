internal import NIOCore

/// A connection to an upstream that is being established. Used on its event loop only.
struct PendingConnection {
  /// The channel, active.
  let channel: EventLoopFuture<any Channel>
  /// Closes the sockets that are connecting, and fails ``channel``. Changes nothing once that has completed.
  let cancel: () -> Void
}
