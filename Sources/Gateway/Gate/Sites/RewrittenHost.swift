internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Logging
internal import Operations

/// Detection of a proxy that rewrites `Host` to one of `listen.hosts`. The browser is at `public_url` already, so that
/// a redirect there would come back to the alias, without end.
///
/// `X-Forwarded-Host` decides about nothing else: the request is authorized for the host that `Host` names.
enum RewrittenHost {
  /// Whether a trusted proxy says that the browser asked for `public_url`: by the last name in `X-Forwarded-Host`, its
  /// own, or without that field in `X-Original-Host`, which is that of Azure's Application Gateway.
  static func isOfPublicURL(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ authorities: AuthorityList
  ) -> Bool {
    guard client.isTrusted else { return false }
    let hasForwardedHost = head.fields.has(.xForwardedHost)
    var last: Range<Int>?
    for line in head.fields.lines {
      let names =
        hasForwardedHost
        ? line.known == .xForwardedHost : bytes.equalsIgnoringCase("x-original-host", line.name)
      if names { bytes.forEachListElement(line.value) { last = $0 } }
    }
    guard let last else { return false }
    let place = authorities.place(bytes.extracting(last)._unsafeView(as: UInt8.self))
    if case .publicURL? = place { return true }
    return false
  }

  /// Warns of such a proxy, once a minute.
  /// - Returns: the decision, or the same with the warning: the address of a proxy that has named its client is known
  ///   to the connection alone.
  static func warn(
    _ decision: consuming GateDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer,
    _ warnings: LogLimit, _ logger: Logger
  ) -> GateDecision {
    guard warnings.isDue() else { return decision }
    let (host, address) = (bytes.string(head.authority), client.address)
    guard ClientAddress.isNamedByProxy(client, head) else {
      warn(["peer": "\(address)"], host, logger)
      return decision
    }
    return decision.logging { proxy in warn(["client": "\(address)", "proxy": "\(proxy)"], host, logger) }
  }

  private static func warn(_ addresses: Logger.Metadata, _ host: String, _ logger: Logger) {
    var metadata = addresses
    metadata["host"] = "\(host)"
    metadata["remedy"] = "\(remedy)"
    logger.warning(
      "a trusted proxy rewrites Host, answering 421 instead of an endless redirect", metadata: metadata)
  }

  private static let remedy =
    "let the proxy forward Host unchanged (nginx: proxy_set_header Host $host;) and remove this host from "
    + "listen.hosts, or have it set X-Forwarded-Host to the name that the browser asked for"
}
