internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Logging
internal import WebFormats

/// The address of a request's client, as far as `networks` may rely on it.
enum ClientAddress {
  /// Whether the address is known. A peer that speaks for others without being trusted may be a proxy, whose own
  /// address says nothing of the client; a trusted one has to say for whom in `X-Forwarded-For`.
  @inline(__always)
  static func isKnown(_ client: ClientPeer, _ head: borrowing RequestHead) -> Bool {
    let speaksForAnother = head.fields.has(.forwarded) || head.fields.has(.xRealIP)
    guard client.isAddressKnown else { return false }
    if client.isTrusted { return head.fields.has(.xForwardedFor) || !speaksForAnother }
    return !speaksForAnother && !head.fields.has(.xForwardedFor)
  }

  /// The address; nil if it is not known, or that of a Unix socket.
  static func find(_ client: ClientPeer, _ head: borrowing RequestHead) -> IPAddress? {
    isKnown(client, head) ? IPAddress(client.address) : nil
  }

  /// Warns of a peer that is denied because it speaks for others without being trusted, once a minute.
  static func warnIfUntrusted(
    _ client: ClientPeer, _ head: borrowing RequestHead, _ warnings: WarningInterval, _ logger: Logger
  ) {
    guard !client.isTrusted, !isKnown(client, head), warnings.isDue() else { return }
    guard client.isAddressKnown else {
      return logger.warning(
        "denied request of a client whom the load balancer does not know: the route has networks",
        metadata: [
          "balancer": "\(client.address)",
          "remedy": "find out why it sends PROXY UNKNOWN or AF_UNSPEC instead of the client's address",
        ])
    }
    logger.warning(
      "denied request with a forwarded address from an untrusted peer: the route has networks",
      metadata: [
        "peer": "\(client.address)",
        "remedy": "if this is your proxy, add its address to listen.trusted_proxies",
      ])
  }
}
