internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import WebFormats

/// The requests that the admin listener accepts from browsers: no cross-site requests, and on a loopback address no
/// requests for a host name that only resolves to it by DNS rebinding.
enum AdminHostPolicy: Sendable {
  /// `Host` has to be `localhost`, a name below it, or a loopback address, with any port (port forwarding changes it).
  case loopback
  /// Any `Host`: a bind address says nothing about the names and addresses by which probes and scrapers reach it.
  case any

  init(_ address: BindAddress) {
    switch address {
    case .unix: self = .any
    case .ip(let host, _): self = Host.isLoopback(host.utf8) ? .loopback : .any
    }
  }

  /// The reason that a request is refused; nil if it is not.
  func refusal(_ head: borrowing RequestHead, _ bytes: RawSpan) -> ControlResponse? {
    // Without a Host (HTTP/1.0) it is not from a browser.
    if case .loopback = self, !head.authority.isEmpty,
      !Authority.isLoopback(bytes.extracting(head.authority)._unsafeView(as: UInt8.self))
    {
      return Self.refuse(
        .misdirectedRequest,
        "The admin listener is bound to a loopback address and answers to localhost, 127.0.0.1 and [::1] only. "
          + "Use one of these as Host, or set admin.address to another address or to a Unix socket.")
    }
    if Self.isOfAnotherSite(head, bytes) {
      return Self.refuse(
        .forbidden,
        "The request comes from another site's page (Origin or Sec-Fetch-Site). Open the address directly.")
    }
    return nil
  }

  private static func isOfAnotherSite(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    if let site = head.fields.line(.secFetchSite) {
      if head.fields.isRepeated(.secFetchSite) || bytes.equalsIgnoringCase("cross-site", site.value) { return true }
    }
    guard let origin = head.fields.line(.origin) else { return false }
    if head.fields.isRepeated(.origin) { return true }
    // A proxy may add TLS before this listener, so the scheme is not compared.
    let value = bytes.array(origin.value).map(\.asciiLowercased)
    let authority = bytes.array(head.authority).map(\.asciiLowercased)
    return authority.isEmpty
      || !["http://", "https://"].contains { value.elementsEqual(Array($0.utf8) + authority) }
  }

  private static func refuse(_ status: HTTPResponse.Status, _ text: String) -> ControlResponse {
    ControlResponse(
      status, fields: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
      body: Array((text + "\n").utf8))
  }
}
