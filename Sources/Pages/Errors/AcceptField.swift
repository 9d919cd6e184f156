/// Whether a client would rather have a page than JSON, by its `Accept` field (RFC 9110 section 12.5.1).
///
/// A browser's navigation names `text/html`. A page it is only if HTML is named (`text/html`, `application/xhtml+xml`,
/// `text/*`) with a weight above zero that JSON does not exceed; `*/*` alone, as programs send it, and an absent field
/// are JSON. Anything malformed counts as not said.
///
/// - Parameter accept: the bytes of the field, several fields joined by commas.
public func prefersHTML(accept: [UInt8]) -> Bool {
  var html: Int?
  var json: Int?
  for range in accept.split(separator: UInt8(ascii: ",")) {
    let parts = range.split(separator: UInt8(ascii: ";")).map(AcceptField.trimmed)
    guard let type = parts.first, let weight = AcceptField.weight(parts.dropFirst()) else { continue }
    if AcceptField.htmlTypes.contains(type) { html = max(html ?? 0, weight) }
    if AcceptField.jsonTypes.contains(type) { json = max(json ?? 0, weight) }
  }
  guard let html, html > 0 else { return false }
  return html >= json ?? 0
}

private enum AcceptField {
  static let htmlTypes = ["text/html", "application/xhtml+xml", "text/*"].map { Array($0.utf8) }
  static let jsonTypes = ["application/json", "application/problem+json"].map { Array($0.utf8) }

  /// Without white space around it, in lower case.
  static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    let start = text.drop(while: isSpace)
    let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
    return start[..<end].map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
  }

  /// The weight in thousandths: 1,000 unless `q=` says otherwise; nil if it is none (`qvalue = "0" ["." 0*3DIGIT] /
  /// "1" ["." 0*3"0"]`).
  static func weight(_ parameters: ArraySlice<[UInt8]>) -> Int? {
    guard let parameter = parameters.first(where: { $0.starts(with: "q=".utf8) }) else { return 1000 }
    let value = parameter.dropFirst(2)
    let fraction = value.dropFirst(2)
    guard let first = value.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"), value.count <= 5,
      value.dropFirst().first.map({ $0 == UInt8(ascii: ".") }) ?? true,
      fraction.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
    else { return nil }
    var weight = Int(first - UInt8(ascii: "0")) * 1000
    var unit = 100
    for digit in fraction {
      weight += Int(digit - UInt8(ascii: "0")) * unit
      unit /= 10
    }
    return weight <= 1000 ? weight : nil
  }
}
