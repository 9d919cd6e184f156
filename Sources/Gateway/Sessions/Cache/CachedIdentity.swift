internal import DataPlane
internal import FoundationEssentials
internal import IdentityAssertion

/// The serialized identity headers of a cached session for each upstream, with the assertion that they contain.
struct CachedIdentity {
  /// The header lines for upstreams without headers of their own, including the assertion.
  private(set) var headers: SerializedIdentityHeaders
  /// The same header lines without the assertion.
  private var unsigned: SerializedIdentityHeaders
  /// The header lines for upstreams with headers of their own: the few that requests needed last.
  private var ofUpstreams: [UpstreamHeaders] = []
  /// The value of `X-Identity-Assertion`; nil if none is sent, or before the first was made.
  private(set) var assertion: String?
  /// The period in which no other assertion is requested, and that in which this one may be sent.
  private(set) var assertionFresh = Period.none
  private(set) var assertionValid = Period.none

  /// The header lines of the user for one upstream.
  private struct UpstreamHeaders {
    let upstream: Int
    let unsigned: SerializedIdentityHeaders
    /// The same with the present assertion.
    var headers: SerializedIdentityHeaders
  }

  /// The largest number of upstreams whose header lines are kept.
  private static let upstreamLimit = 8
  /// The size of header lines for one upstream beside those of the identity headers.
  private static let upstreamBytes = 256

  /// The pause after a signature, or after a failure to sign.
  private static let signingPause: Int64 = 1_000
  /// The time to wait for a signature before it is requested again.
  private static let signingTimeout: Int64 = 10_000

  /// - Parameter fields: the identity headers, without an assertion.
  init(_ fields: [(name: String, value: [UInt8])]) {
    unsigned = SerializedIdentityHeaders(fields)
    headers = unsigned
  }

  /// The approximate size in bytes, as large as it may become.
  /// - Parameter upstreams: the number of upstreams with headers of their own.
  func footprint(upstreams: Int) -> Int {
    headers.lines.count + min(upstreams, Self.upstreamLimit) * (Self.upstreamBytes + headers.lines.count)
  }

  /// Replaces the identity headers, and keeps the assertion.
  mutating func replace(_ fields: [(name: String, value: [UInt8])]) {
    unsigned = SerializedIdentityHeaders(fields)
    headers = withAssertion(unsigned)
    ofUpstreams = []
  }

  /// The header lines for an upstream with headers of its own; nil if they are not kept.
  @inline(__always)
  func headers(of upstream: Int) -> SerializedIdentityHeaders? {
    for place in ofUpstreams.indices where ofUpstreams[place].upstream == upstream { return ofUpstreams[place].headers }
    return nil
  }

  /// Keeps the headers for an upstream with headers of its own.
  /// - Returns: its header lines, including the assertion.
  mutating func add(
    _ fields: [(name: String, value: [UInt8])], for upstream: Int
  ) -> SerializedIdentityHeaders {
    let unsigned = SerializedIdentityHeaders(fields)
    let headers = withAssertion(unsigned)
    if ofUpstreams.count == Self.upstreamLimit { ofUpstreams.removeFirst() }
    ofUpstreams.append(UpstreamHeaders(upstream: upstream, unsigned: unsigned, headers: headers))
    return headers
  }

  /// Notes that an assertion is being signed while the present one is still valid: no other is requested meanwhile.
  mutating func noteSigning(at now: Int64) { assertionFresh = Period(from: now, for: Self.signingTimeout) }

  /// Stores a new assertion; nil if it could not be signed: then requests have none for a moment.
  mutating func take(_ signed: SignedAssertion?, now: Int64) {
    assertion = signed?.token
    headers = withAssertion(unsigned)
    for place in ofUpstreams.indices { ofUpstreams[place].headers = withAssertion(ofUpstreams[place].unsigned) }
    guard let signed else {
      assertionFresh = Period(from: now, for: Self.signingPause)
      assertionValid = assertionFresh
      return
    }
    // Never in the past: after a clock jump, a request must not wait repeatedly.
    let (renewal, end) = (
      signed.made.addingTimeInterval(AssertionMint.renewal),
      signed.expires.addingTimeInterval(-AssertionMint.remainder)
    )
    assertionFresh = Period(from: now, until: max(renewal.wallClock, now + Self.signingPause))
    assertionValid = Period(from: now, until: max(end.wallClock, now + Self.signingPause))
  }

  private func withAssertion(_ lines: SerializedIdentityHeaders) -> SerializedIdentityHeaders {
    assertion.map { lines.adding([(name: SessionAssertions.headerName, value: Array($0.utf8))]) } ?? lines
  }
}
