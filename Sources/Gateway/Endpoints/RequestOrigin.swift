internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes

extension ControlRequest {
  /// Whether the request comes from our own pages (`Origin`, or `Sec-Fetch-Site` from browsers that leave `Origin`
  /// out). False if it has neither.
  func isFromOwnPages(_ origin: OriginSettings) -> Bool {
    let fields = head.headerFields
    if let site = fields[.secFetchSite], site != "same-origin" { return false }
    if let stated = fields[.origin] { return stated.utf8.elementsEqual(origin.origin.description.utf8) }
    return fields[.secFetchSite] == "same-origin"
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
  /// `prefetch`, with or without `prerender`.
  fileprivate static let secPurpose = HTTPField.Name("Sec-Purpose")!
  /// The same of older browsers.
  fileprivate static let purpose = HTTPField.Name("Purpose")!
  fileprivate static let xMoz = HTTPField.Name("X-Moz")!
}
