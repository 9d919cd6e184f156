import HTTPWire
import NIOHTTP1

extension Invariant {
  /// Each response head that our parser accepts, llhttp accepts with the same meaning.
  ///
  /// White space before a colon, which RFC 9112, 5.1 has a proxy remove from responses and llhttp refuses, is removed
  /// before llhttp is asked.
  static let responseHead = Invariant("response-head") { bytes in
    let parser = ResponseHeadParser(limits: .forInvariants)
    let span = bytes.span.bytes
    var head = ResponseHead()
    let outcome = parser.parse(span, into: &head)
    try requireStability(of: outcome, byteCount: head.byteCount, over: bytes) { prefix in
      var other = ResponseHead()
      let outcome = parser.parse(prefix, into: &other)
      return (outcome, other.byteCount)
    }
    guard outcome == .complete else { return }
    try require(head.byteCount <= bytes.count, "the head ends within its bytes")
    try require((100..<600).contains(head.status), "the status is \(head.status)")

    let respelt = spacesBeforeColonsRemoved(head, span)
    let theirs = LLHTTPReading.response(respelt)
    guard let response = theirs.response, !theirs.isRefused, theirs.messages == 1 else {
      throw Violation(description: "taken by us only: \(shown(respelt))")
    }
    try require(Int(response.status.code) == head.status, "status: llhttp reads \(response.status)")
    try require((response.version == .http1_1) == head.isHTTP11, "version: llhttp reads \(response.version)")
    let ours = span.fields(of: head.fields)
    try require(theirs.fields == ours.map(\.asText), "fields: we read \(ours), llhttp \(theirs.fields)")
    let framing = head.framing(toHead: false)
    // SwiftNIO does not report the end of an interim response.
    guard head.status >= 200 else { return }
    try require(
      theirs.isEnded == (framing == .none),
      "framing: we read \(framing), llhttp \(theirs.isEnded ? "ended" : "goes on")")
  }

  private static func spacesBeforeColonsRemoved(_ head: borrowing ResponseHead, _ bytes: RawSpan) -> [UInt8] {
    var respelt = bytes.array(0..<head.fieldsStart)
    for line in head.fields.lines {
      var rest = line.name.upperBound
      while bytes.byte(at: rest) != 0x3A { rest += 1 }
      respelt += bytes.array(line.name) + bytes.array(rest..<Int(line.end))
    }
    return respelt + [0x0D, 0x0A]
  }
}
