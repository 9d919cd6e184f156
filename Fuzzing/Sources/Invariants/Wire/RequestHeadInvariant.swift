import HTTPWire
import NIOHTTP1

extension Invariant {
  /// Each request head that our parser accepts, llhttp accepts with the same meaning: a laxer reader than those behind
  /// it would let a request be smuggled past the gate. And a head is the same however its bytes arrive.
  static let requestHead = Invariant("request-head") { bytes in
    let parser = RequestHeadParser(limits: .forInvariants)
    let span = bytes.span.bytes
    var head = RequestHead()
    let outcome = parser.parse(span, into: &head)
    try requireStability(of: outcome, byteCount: head.byteCount, over: bytes) { prefix in
      var other = RequestHead()
      let outcome = parser.parse(prefix, into: &other)
      return (outcome, other.byteCount)
    }
    guard outcome == .complete else { return }
    try require(head.byteCount <= bytes.count, "the head ends within its bytes")

    // llhttp takes only methods that it knows; to it any other becomes one of those.
    var asked = LLHTTPReading.inASCII(Array(bytes[..<head.byteCount]), head.target)
    if head.method == .other { asked.replaceSubrange(head.methodRange, with: Array("PUT".utf8)) }
    let method = head.method == .other ? "PUT" : span.string(head.methodRange)
    let theirs = LLHTTPReading.request(asked)
    guard let request = theirs.request, !theirs.isRefused, theirs.messages == 1 else {
      throw Violation(description: "taken by us only: \(shown(asked))")
    }
    try require(request.method.rawValue == method, "method: llhttp reads \(request.method)")
    let target = span.array(head.target)
    try require(
      Array(request.uri.utf8) == LLHTTPReading.inASCII(target, target.indices), "target: llhttp reads \(request.uri)")
    try require((request.version == .http1_1) == head.isHTTP11, "version: llhttp reads \(request.version)")
    let ours = span.fields(of: head.fields)
    try require(theirs.fields == ours.map(\.asText), "fields: we read \(ours), llhttp \(theirs.fields)")
    try require(
      theirs.isEnded == (head.framing == .none),
      "framing: we read \(head.framing), llhttp \(theirs.isEnded ? "ended" : "goes on")")
  }
}

/// A head that was taken is incomplete until its last byte, and nothing after that byte changes it. One that is
/// refused may be refused earlier in some pieces than in others.
func requireStability(
  of outcome: HeadParse, byteCount: Int, over bytes: [UInt8],
  parse: (RawSpan) -> (HeadParse, Int)
) throws(Violation) {
  let whole = bytes.span.bytes
  if outcome == .complete {
    for end in [byteCount - 1, bytes.count / 2, bytes.count / 3] where end < byteCount {
      let (part, _) = parse(whole.extracting(0..<end))
      try require(part == .incomplete, "the first \(end) bytes of a head of \(byteCount) are \(part)")
    }
    let (alone, count) = parse(whole.extracting(0..<byteCount))
    try require(alone == .complete && count == byteCount, "without what follows the head is \(alone)")
  } else {
    for end in [bytes.count - 1, bytes.count / 2] where end > 0 {
      let (part, _) = parse(whole.extracting(0..<end))
      try require(part != .complete, "a head is whole after \(end) bytes, and \(outcome) after \(bytes.count)")
    }
  }
}

extension HeadLimits {
  /// The gateway's own by default.
  static let forInvariants = HeadLimits(headBytes: 32_768, fieldCount: 100, targetBytes: 8_192)
}

extension RawSpan {
  /// The fields of a table as they are in these bytes.
  func fields(of table: borrowing FieldTable) -> [LLHTTPReading.Field] {
    var fields: [LLHTTPReading.Field] = []
    for line in table.lines { fields.append(.init(name: array(line.name), value: array(line.value))) }
    return fields
  }
}
