internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Logging
internal import Operations
internal import WebFormats

/// The address of a request's client, as far as `networks` may rely on it.
enum ClientAddress {
  /// Whether the address is known. A peer that speaks for others without being trusted may be a proxy, whose own
  /// address says nothing of the client; a trusted one has to say for whom in `X-Forwarded-For`.
  @inline(__always)
  static func isKnown(_ client: ClientPeer, _ head: borrowing RequestHead) -> Bool {
    guard client.isAddressKnown else { return false }
    if client.isTrusted { return head.fields.has(.xForwardedFor) }
    return !head.fields.has(.xForwardedFor) && !head.fields.has(.forwarded) && !head.fields.has(.xRealIP)
  }

  /// The address; nil if it is not known, or that of a Unix socket.
  static func find(_ client: ClientPeer, _ head: borrowing RequestHead) -> IPAddress? {
    isKnown(client, head) ? IPAddress(client.address) : nil
  }

  /// Whether the address is one that a trusted proxy has named, whose own address is not known here. Otherwise it may
  /// be that proxy's.
  static func isNamedByProxy(_ client: ClientPeer, _ head: borrowing RequestHead) -> Bool {
    client.isTrusted && client.isAddressKnown && head.fields.has(.xForwardedFor)
  }

  /// Warns of a peer that is denied because it speaks for others without being trusted, or is trusted and does not say
  /// for whom it speaks, once a minute.
  static func warnIfUnknown(
    _ client: ClientPeer, _ head: borrowing RequestHead, _ warnings: LogLimit, _ logger: Logger
  ) {
    guard !isKnown(client, head), !(client.isTrusted && head.fields.has(.xForwardedFor)), warnings.isDue() else {
      return
    }
    guard !client.isTrusted else {
      return logger.warning(
        "denied request of a trusted proxy without X-Forwarded-For: the route has networks",
        metadata: [
          "peer": "\(client.address)",
          "remedy": "let the proxy send X-Forwarded-For, or remove its address from listen.trusted_proxies",
        ])
    }
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
