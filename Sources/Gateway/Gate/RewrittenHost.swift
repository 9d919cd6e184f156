internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Logging

/// Detection of a proxy that rewrites `Host` to one of `listen.hosts`. The browser is at `public_url` already, so that
/// a redirect there would come back to the alias, without end.
///
/// `X-Forwarded-Host` decides about nothing else: the request is judged for the host that `Host` names.
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

  /// Warns of such a proxy, once a minute. The address is that of the proxy only where `X-Forwarded-For` names none.
  static func warn(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ warnings: WarningInterval,
    _ logger: Logger
  ) {
    guard warnings.isDue() else { return }
    logger.warning(
      "a trusted proxy rewrites Host, answering 421 instead of an endless redirect",
      metadata: [
        ClientAddress.logKey(client, head): "\(client.address)", "host": "\(bytes.string(head.authority))",
        "remedy": "\(remedy)",
      ])
  }

  private static let remedy =
    "let the proxy forward Host unchanged (nginx: proxy_set_header Host $host;) and remove this host from "
    + "listen.hosts, or have it set X-Forwarded-Host to the name that the browser asked for"
}
