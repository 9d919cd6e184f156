package import NIOCore

/// An attempt to connect. Used on its loop only.
package struct ConnectionAttempt {
  /// The channel, active. Fails with `IOError`, `ChannelError.connectTimeout`, or `CancellationError`.
  package let channel: EventLoopFuture<any Channel>
  let connecting: ConnectingSocket?

  /// Closes the socket, unless it is connected.
  package func cancel() { connecting?.cancel() }
}
