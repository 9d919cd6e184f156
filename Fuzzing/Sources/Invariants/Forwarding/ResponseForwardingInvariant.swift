import HTTPWire
import NIOCore
import NIOHTTP1

@testable import DataPlane

extension Invariant {
  /// The bytes that go to the client for an accepted response are exactly one head, for us and for llhttp: the same
  /// status and length, no hop-by-hop field of the upstream, no cookie that would be returned as one of ours, and the
  /// other fields unchanged, in their order.
  static let responseForwarding = Invariant("response-forwarding") { bytes in
    let span = bytes.span.bytes
    var head = ResponseHead()
    guard ResponseHeadParser(limits: .forInvariants).parse(span, into: &head) == .complete else { return }
    let chunked = head.framing(toHead: false) == .chunked
    let rules = ForwardingRules(reservedNames: [], sessionCookieName: KeptNames.cookie, scheme: "https")
    for connection in [ResponseForwarding.Connection.implied, .keepAlive, .close] {
      var buffer = ByteBuffer()
      ResponseForwarding.write(
        head, span, rules: rules, context: ResponseForwarding.Context(),
        on: ResponseForwarding.Hop(connection: connection, isChunked: chunked), to: &buffer)
      let written = Array(buffer.readableBytesView)
      do {
        try requireOneResponse(written, of: head, span)
      } catch {
        throw Violation(description: "\(connection): \(error)\nwritten: \(shown(written))")
      }
    }
  }
}

private func requireOneResponse(
  _ written: [UInt8], of head: borrowing ResponseHead, _ bytes: RawSpan
) throws(Violation) {
  let span = written.span.bytes
  var forwarded = ResponseHead()
  let outcome = ResponseHeadParser(limits: .forwarded).parse(span, into: &forwarded)
  try require(outcome == .complete, "the next reader says \(outcome)")
  try require(forwarded.byteCount == written.count, "the head ends after \(forwarded.byteCount) bytes")
  try require(forwarded.status == head.status && forwarded.isHTTP11, "another status, or another version")
  let framing = head.framing(toHead: false)
  try require(forwarded.framing(toHead: false) == framing, "another framing: \(forwarded.framing(toHead: false))")

  let theirs = LLHTTPReading.response(written)
  try require(!theirs.isRefused && theirs.messages == 1, "llhttp refuses it, or reads \(theirs.messages)")
  try require(theirs.response.map { Int($0.status.code) } == head.status, "llhttp reads another status")
  let fields = span.fields(of: forwarded.fields)
  try require(theirs.fields == fields.map(\.asText), "llhttp reads \(theirs.fields)")

  let came = bytes.fields(of: head.fields).map(KeptNames.written)
  var rest = came[...]
  for field in fields {
    let name = KeptNames.lowercased(field.name)
    try require(!KeptNames.hopByHop.contains(name) || name == "expect", "a field of one connection: \(field)")
    if name == "set-cookie" {
      // A cookie without a name comes back as its value alone.
      let pair = field.value.drop { $0 == 0x3D || $0 == 0x20 || $0 == 0x09 }
      let isOurs = !KeptNames.gatewayCookies(in: Array(pair.prefix { $0 != 0x3B })).isEmpty
      try require(!isOurs, "a cookie of ours: \(field)")
    }
    if ["connection", "transfer-encoding"].contains(name) { continue }
    guard let place = rest.firstIndex(of: field) else {
      throw Violation(description: "nobody sent \(field), or not in this place")
    }
    rest = rest[(place + 1)...]
  }
}
