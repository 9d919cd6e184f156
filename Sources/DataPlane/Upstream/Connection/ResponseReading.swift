internal import HTTPWire

/// The way to read the responses of an upstream.
struct ResponseReading {
  let parser: ResponseHeadParser
  /// Violations in response heads that are repaired.
  let lenience: ResponseLenience
  /// Whether the reason for a malformed response names the key of `lenient` that would accept it.
  private let proposesLenience: Bool

  init(_ settings: UpstreamSettings, limits: HeadLimits, proposesLenience: Bool) {
    lenience = settings.lenient.reduce(into: []) { $0.insert($1.onTheWire) }
    parser = ResponseHeadParser(limits: limits, lenience: lenience)
    self.proposesLenience = proposesLenience
  }

  /// The value of `lenient` with which the head of a malformed response would be accepted.
  /// - Returns: nil if no value would do, alone or with others.
  func lenientKey(for violation: HeadViolation, _ bytes: RawSpan) -> String? {
    guard proposesLenience, let key = violation.lenientKey(beyond: lenience),
      let added = UpstreamLenience(rawValue: key)
    else { return nil }
    let wider = lenience.union(added.onTheWire)
    // Without a repaired head, its rest is not known, or has another mistake that may have a key.
    guard case .head(let repaired, _) = ResponseHeadRepair.repair(bytes, wider, limit: parser.limits.headBytes) else {
      return key
    }
    var head = ResponseHead()
    let parse = ResponseHeadParser(limits: parser.limits, lenience: wider).parse(repaired.span.bytes, into: &head)
    if case .violation(let left) = parse, left.lenientKey(beyond: wider) == nil { return nil }
    return key
  }
}
