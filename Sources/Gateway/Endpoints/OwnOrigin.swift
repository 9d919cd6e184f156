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
}
