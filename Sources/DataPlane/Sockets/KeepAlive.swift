internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// TCP keep-alive (RFC 9293 3.8.4), so that a peer that has vanished without a word, as a phone does that loses its
/// network, does not hold its sockets for ever. The system asks a peer that was silent for a minute four times in the
/// next minute; then the connection is gone.
///
/// Accepted sockets inherit these options from the listening socket (Linux): a connection costs no call for them.
enum KeepAlive {
  private static let idleSeconds: SocketOptionValue = 60
  private static let intervalSeconds: SocketOptionValue = 15
  private static let probes: SocketOptionValue = 4

  /// The options of a TCP socket, with their values.
  static let options: [(option: ChannelOptions.Types.SocketOption, value: SocketOptionValue)] = [
    (ChannelOptions.Types.SocketOption(level: .socket, name: .so_keepalive), 1),
    (ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), idleSeconds),
    (
      ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)),
      intervalSeconds
    ),
    (ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), probes),
  ]
}
