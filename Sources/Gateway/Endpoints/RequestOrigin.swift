internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes

extension ControlRequest {
  /// Whether the request comes from our own pages, by `Origin`, or by `Sec-Fetch-Site` where `Origin` says nothing:
  /// some browsers leave it out, and of a page with `Referrer-Policy: no-referrer` it is `null` (Fetch Standard,
  /// "append a request Origin header"). False if the request has neither. A sandboxed frame has the origin `null` as
  /// well, but is `cross-site`.
  func isFromOwnPages(_ origin: OriginSettings) -> Bool {
    let fields = head.headerFields
    if let site = fields[.secFetchSite], site != "same-origin" { return false }
    let isSameOrigin = fields[.secFetchSite] == "same-origin"
    guard let stated = fields[.origin], stated != "null" || !isSameOrigin else { return isSameOrigin }
    return stated.utf8.elementsEqual(origin.origin.description.utf8)
  }

  /// Whether a page of another site caused the request, by `Sec-Fetch-Site`.
  var isOfAnotherSite: Bool {
    guard let site = head.headerFields[.secFetchSite] else { return false }
    return site != "same-origin" && site != "none"
  }

  /// Whether the request is a top-level navigation by Fetch Metadata, neither a frame nor a prefetch. True for browsers
  /// that do not send it.
  var isTopLevelNavigation: Bool {
    let fields = head.headerFields
    return (fields[.secFetchMode] ?? "navigate") == "navigate" && (fields[.secFetchDest] ?? "document") == "document"
      && fields[.secPurpose] == nil && fields[.purpose] == nil && fields[.xMoz] == nil
  }
}

extension HTTPField.Name {
  static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
  fileprivate static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest")!
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  /// `prefetch`, as older browsers say it; now it is in `Sec-Purpose`.
  fileprivate static let purpose = HTTPField.Name("Purpose")!
  fileprivate static let xMoz = HTTPField.Name("X-Moz")!
}
