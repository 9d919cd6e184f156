import HTTPWire
import NIOCore

@testable import DataPlane

extension Invariant {
  /// Trailers go upstream without what could frame, route, authenticate or identify; what goes is a whole end of a
  /// body, for us and for llhttp.
  static let trailers = Invariant("trailers") { bytes in
    let body = try DecodedBody(chunked: [Array("0\r\n".utf8)[...], bytes[...]])
    guard let section = body.trailers else { return }
    let rules = ForwardingRules(
      reservedNames: KeptNames.identity, sessionCookieName: KeptNames.cookie, scheme: "https")
    var buffer = ByteBuffer()
    TrailerForwarding.write(section, rules: rules, to: &buffer)
    let written = Array(buffer.readableBytesView)
    let forwarded = try DecodedBody(chunked: [written[...]])
    guard let kept = forwarded.trailers else { throw Violation(description: "no whole end: \(shown(written))") }
    try require(forwarded.content.isEmpty && forwarded.rest.isEmpty, "more than an end: \(shown(written))")

    let came = trailerFields(section)
    var rest = came[...]
    for field in trailerFields(kept) {
      let name = KeptNames.folded(field.name)
      let isKept =
        KeptNames.beforeBodyOnly.contains(name) || KeptNames.reserved.contains(name) || KeptNames.own.contains(name)
        || KeptNames.isStrange(name)
      try require(!isKept, "passed on: \(field)")
      guard let place = rest.firstIndex(of: field) else { throw Violation(description: "nobody sent \(field)") }
      rest = rest[(place + 1)...]
    }

    let message = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    let theirs = LLHTTPReading.request(message + written)
    try require(!theirs.isRefused && theirs.isEnded, "llhttp refuses \(shown(written))")
    try require(theirs.messages == 1, "llhttp reads \(theirs.messages) requests")
    try require((theirs.trailers ?? []) == trailerFields(kept).map(\.asText), "llhttp reads \(theirs.trailers ?? [])")
  }
}
