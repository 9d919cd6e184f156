import HTTPWire
import NIOHTTP1

/// The bytes for the upstream are one request, the one that came.
func requireOneRequest(
  _ written: [UInt8], of head: borrowing RequestHead, _ bytes: RawSpan, upgrades: Bool
) throws(Violation) {
  let span = written.span.bytes
  var forwarded = RequestHead()
  let outcome = RequestHeadParser(limits: .forwarded).parse(span, into: &forwarded)
  try require(outcome == .complete, "the next reader says \(outcome)")
  try require(forwarded.byteCount == written.count, "the head ends after \(forwarded.byteCount) bytes")
  try require(forwarded.isHTTP11, "it is not HTTP/1.1")
  let method = bytes.array(head.methodRange)
  try require(span.array(forwarded.methodRange) == method, "another method")
  var target = bytes.array(head.path) + bytes.array(head.query)
  if head.path.isEmpty { target.insert(head.isAsteriskForm ? 0x2A : 0x2F, at: 0) }
  try require(span.array(forwarded.target) == target, "another target")
  try require(span.array(forwarded.authority) == bytes.array(head.authority), "another authority")
  try require(forwarded.framing == head.framing, "another framing: \(forwarded.framing)")
  try require(forwarded.wantsUpgrade == upgrades, "it asks for an upgrade: \(forwarded.wantsUpgrade)")

  var asked = LLHTTPReading.inASCII(written, forwarded.target)
  if head.method == .other { asked.replaceSubrange(forwarded.methodRange, with: Array("PUT".utf8)) }
  let theirs = LLHTTPReading.request(asked)
  guard let request = theirs.request, !theirs.isRefused else { throw Violation(description: "llhttp refuses it") }
  try require(theirs.messages == 1, "llhttp reads \(theirs.messages) requests")
  try require(head.method == .other || Array(request.method.rawValue.utf8) == method, "llhttp reads another method")
  target = LLHTTPReading.inASCII(target, target.indices)
  try require(Array(request.uri.utf8) == target, "llhttp reads another target")
  try require(theirs.fields == span.fields(of: forwarded.fields).map(\.asText), "llhttp reads \(theirs.fields)")
  try require(theirs.isEnded == (head.framing == .none), "llhttp reads another framing")
}

/// The written fields are those that may be forwarded, unchanged, and the gateway's own.
func requireFields(
  of written: [UInt8], from head: borrowing RequestHead, _ bytes: RawSpan, _ circumstances: Circumstances,
  upgrades: Bool
) throws(Violation) {
  let span = written.span.bytes
  var forwarded = RequestHead()
  guard RequestHeadParser(limits: .forwarded).parse(span, into: &forwarded) == .complete else { return }
  let fields = span.fields(of: forwarded.fields)
  var counts: [String: Int] = [:]
  for field in fields { counts[KeptNames.folded(field.name), default: 0] += 1 }
  for name in KeptNames.own.union(["host"]) {
    try require(counts[name] == 1, "\(name) is there \(counts[name] ?? 0) times")
  }
  let identity = Set(KeptNames.identity.map { KeptNames.folded(Array($0.utf8)) })
  for name in KeptNames.reserved {
    let expected = circumstances.isSignedIn && identity.contains(name) ? 1 : 0
    try require(counts[name] ?? 0 == expected, "\(name) is there \(counts[name] ?? 0) times")
  }
  let came = bytes.fields(of: head.fields).map(KeptNames.written)
  try requireNothingOfTheConnection(
    fields, came, head.framing, upgrades: upgrades, closes: circumstances.closes)
  for field in fields {
    let name = KeptNames.folded(field.name)
    if name == "cookie" {
      try require(KeptNames.gatewayCookies(in: field.value).isEmpty, "a cookie of ours: \(field)")
    }
    let isShadow = KeptNames.framing.contains(name) && KeptNames.lowercased(field.name) != name
    try require(!isShadow, "another spelling of what frames a message: \(field)")
    if !circumstances.isTrusted {
      try require(!KeptNames.isStrange(name) || KeptNames.own.contains(name), "the word of a stranger: \(field)")
    }
  }
  try requireOwnWord(fields, came, authority: bytes.array(head.authority), isTrusted: circumstances.isTrusted)
  try requireOrder(of: fields, from: came)
}

/// The gateway's element about the client comes last, after those of a trusted peer, which cannot swallow it.
private func requireOwnWord(
  _ fields: [LLHTTPReading.Field], _ came: [LLHTTPReading.Field], authority: [UInt8], isTrusted: Bool
) throws(Violation) {
  for field in fields where KeptNames.lowercased(field.name) == "x-forwarded-for" {
    let last = field.value.split(separator: 0x2C, omittingEmptySubsequences: false).last.map(KeptNames.trimmed)
    try require(last == Array(Circumstances.address.utf8), "the client is not the last of \(field)")
    try require(isTrusted || field.value == Array(Circumstances.address.utf8), "the word of a stranger: \(field)")
  }
  let forwarded = fields.filter { KeptNames.lowercased($0.name) == "forwarded" }
  let isExpected = isTrusted && came.contains { KeptNames.lowercased($0.name) == "forwarded" }
  try require(forwarded.count == (isExpected ? 1 : 0), "Forwarded is there \(forwarded.count) times")
  guard let value = forwarded.first?.value else { return }
  // Elements end at commas outside of quotations.
  var element: [UInt8] = []
  var (isQuoted, isEscaped) = (false, false)
  for byte in value {
    if byte == 0x2C, !isQuoted { element = [] } else { element.append(byte) }
    if isEscaped {
      isEscaped = false
    } else if isQuoted, byte == 0x5C {
      isEscaped = true
    } else if byte == 0x22 {
      isQuoted.toggle()
    }
  }
  let ours = Array("for=\(Circumstances.address);host=\"".utf8) + authority + Array("\";proto=https".utf8)
  try require(!isQuoted && KeptNames.trimmed(element) == ours, "ours is not the last of \(shown(value))")
}

/// Nothing is left of what concerns the client's connection only.
private func requireNothingOfTheConnection(
  _ fields: [LLHTTPReading.Field], _ came: [LLHTTPReading.Field], _ framing: RequestFraming, upgrades: Bool,
  closes: Bool
) throws(Violation) {
  var nominated: Set<String> = []
  for field in came where KeptNames.lowercased(field.name) == "connection" {
    for element in field.value.split(separator: 0x2C) {
      nominated.insert(KeptNames.lowercased(KeptNames.trimmed(element)))
    }
  }
  // These frame and route the message, and those the gateway adds.
  nominated.subtract(["host", "content-length", "transfer-encoding", "connection", "upgrade"])
  nominated.subtract(KeptNames.own.union(["forwarded"]))
  nominated.subtract(KeptNames.identity.map { KeptNames.lowercased(Array($0.utf8)) })
  for field in fields {
    let name = KeptNames.lowercased(field.name)
    try require(!KeptNames.hopByHop.contains(name), "a field of one connection: \(field)")
    try require(!nominated.contains(name), "a field that Connection nominates: \(field)")
    switch name {
    case "connection":
      try require(field.value == Array((upgrades ? "Upgrade" : closes ? "close" : "").utf8), "\(field)")
    case "upgrade": try require(upgrades, "\(field)")
    case "transfer-encoding":
      try require(framing == .chunked && field.value == Array("chunked".utf8), "\(field)")
    default: break
    }
  }
}

/// Fields that the gateway did not write came from the client, in the same order.
private func requireOrder(of fields: [LLHTTPReading.Field], from came: [LLHTTPReading.Field]) throws(Violation) {
  let gateways = KeptNames.own.union(["cookie", "host", "connection", "upgrade", "transfer-encoding", "forwarded"])
    .union(KeptNames.identity.map { KeptNames.lowercased(Array($0.utf8)) })
  var rest = came[...]
  for field in fields where !gateways.contains(KeptNames.lowercased(field.name)) {
    guard let place = rest.firstIndex(of: field) else {
      throw Violation(description: "nobody sent \(field), or not in this place")
    }
    rest = rest[(place + 1)...]
  }
}

extension HeadLimits {
  /// Room for what the gateway adds.
  static let forwarded = HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 16_384)
}
