#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// TCP keep-alive (RFC 9293, 3.8.4), so that a peer that has vanished without a word, as a phone does that loses its
/// network, does not hold its sockets for ever. The system asks a peer that was silent for a minute four times in the
/// next minute; then the connection is gone.
///
/// Accepted sockets inherit these options from the listening socket (Linux): a connection costs no call for them.
enum KeepAlive {
  private static let idleSeconds: CInt = 60
  private static let intervalSeconds: CInt = 15
  private static let probes: CInt = 4

  static func apply(to descriptor: CInt) {
    SystemSocket.set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    SystemSocket.set(descriptor, CInt(IPPROTO_TCP), TCP_KEEPIDLE, idleSeconds)
    SystemSocket.set(descriptor, CInt(IPPROTO_TCP), TCP_KEEPINTVL, intervalSeconds)
    SystemSocket.set(descriptor, CInt(IPPROTO_TCP), TCP_KEEPCNT, probes)
  }
}
