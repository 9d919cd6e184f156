internal import HTTPWire

/// The way to read the responses of an upstream.
struct ResponseReading {
  let parser: ResponseHeadParser
  /// Violations in response heads that are repaired.
  let lenience: ResponseLenience
  /// Whether the reason for a malformed response names the key of `lenient` that would accept it.
  let proposesLenience: Bool

  init(_ settings: UpstreamSettings, limits: HeadLimits, proposesLenience: Bool) {
    lenience = settings.lenient.reduce(into: []) { $0.insert($1.onTheWire) }
    parser = ResponseHeadParser(limits: limits, lenience: lenience)
    self.proposesLenience = proposesLenience
  }
}
