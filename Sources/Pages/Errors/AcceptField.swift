/// Whether a client would rather have a page than JSON, by its `Accept` field (RFC 9110, 12.5.1).
///
/// A browser's navigation names `text/html`. A page it is only if HTML is named (`text/html`, `application/xhtml+xml`,
/// `text/*`) with a weight above zero that JSON does not exceed; `*/*` alone, as programs send it, and an absent field
/// are JSON. Anything malformed counts as not said.
///
/// - Parameter accept: the bytes of the field, several fields joined by commas.
package func prefersHTML(accept: [UInt8]) -> Bool {
  var html: Int?
  var json: Int?
  for range in accept.split(separator: UInt8(ascii: ",")) {
    let parts = range.split(separator: UInt8(ascii: ";")).map(PreferenceField.trimmed)
    guard let type = parts.first, let weight = PreferenceField.weight(parts.dropFirst()) else { continue }
    if AcceptField.htmlTypes.contains(type) { html = max(html ?? 0, weight) }
    if AcceptField.jsonTypes.contains(type) { json = max(json ?? 0, weight) }
  }
  guard let html, html > 0 else { return false }
  return html >= json ?? 0
}

private enum AcceptField {
  static let htmlTypes = ["text/html", "application/xhtml+xml", "text/*"].map { Array($0.utf8) }
  static let jsonTypes = ["application/json", "application/problem+json"].map { Array($0.utf8) }
}
