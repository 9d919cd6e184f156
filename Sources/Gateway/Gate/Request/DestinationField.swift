internal import HTTPWire
internal import WebFormats

/// `Destination` of COPY and MOVE (RFC 4918, 10.3): a second resource, to which the application writes. The gate
/// decides about it as about the request's own path. Whatever `Depth` says, what is below it counts: a folder there is
/// overwritten as a whole (RFC 4918, 9.8.4 and 9.9.3).
enum DestinationField {
  /// Finds the route of the field's path on the site of the request, for the gate, `verify` and the review of open
  /// exchanges. A field that cannot be read with certainty, or names another site, is refused.
  /// - Parameter method: that of the request; nil if it is not known, which takes the strictest rule of all methods.
  static func route(
    _ head: borrowing RequestHead, _ bytes: RawSpan, method: Range<Int>?, of site: GateSite,
    _ configuration: GateConfiguration
  ) -> GateConfiguration.PathRouting {
    let path = path(head, bytes) {
      configuration.sites.site(of: bytes.extracting($0)._unsafeView(as: UInt8.self))?.number == site.number
    }
    guard let path else { return .refused }
    return configuration.route(path, method: method, bytes, on: site)
  }

  /// The path that the field names.
  /// - Returns: nil if there is not exactly one field, it names another site than the request, or it cannot be read
  ///   with certainty: neither an `http:` or `https:` address with an authority nor a path from the root, with a
  ///   fragment, or with characters that no request target may have.
  static func path(
    _ head: borrowing RequestHead, _ bytes: RawSpan, isOfSite: (_ authority: Range<Int>) -> Bool
  ) -> Range<Int>? {
    var value: Range<Int>?
    for line in head.fields.lines where line.known == .destination {
      guard value == nil else { return nil }
      value = line.value
    }
    guard let value, !value.isEmpty else { return nil }
    for offset in value {
      let byte = bytes.byte(at: offset)
      guard (0x21...0x7E).contains(byte), byte != UInt8(ascii: "#"), byte != UInt8(ascii: "\\") else { return nil }
    }
    var target = value
    if bytes.byte(at: value.lowerBound) != UInt8(ascii: "/") {
      guard let parts = AbsoluteURL.split(bytes, value), isOfSite(parts.authority) else { return nil }
      target = parts.target
    }
    let path = bytes.path(of: target)
    guard !path.isEmpty else { return nil }
    // An authority to some readers.
    let second = path.lowerBound + 1
    return second < path.upperBound && bytes.byte(at: second) == UInt8(ascii: "/") ? nil : path
  }
}
