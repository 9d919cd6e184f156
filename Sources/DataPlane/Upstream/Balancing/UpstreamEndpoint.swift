internal import Synchronization

/// One address of an upstream: what all event loops share of it.
final class UpstreamEndpoint: Sendable {
  let address: UpstreamAddress
  /// ``address`` as logs and metrics write it.
  let text: String
  /// The HTTP proxy on the way to it; nil for none.
  let proxy: ConnectProxy?
  let tls: UpstreamTLS?
  /// Looks up the name of the host, or of the proxy on the way; nil for an IP address or a Unix socket.
  let name: NameResolver?
  /// Limits the connections of the upstream to it.
  let limiter: ConnectionLimiter

  /// Whether a request was ever answered.
  let hasAnswered = Atomic<Bool>(false)
  let ejections = Atomic<Int>(0)
  let failures = Atomic<Int>(0)
  /// Responses among them that break the protocol.
  let malformed = Atomic<Int>(0)
  /// Whether the last failure was one of those.
  let lastFailureWasMalformed = Atomic<Bool>(false)
  /// Whether its checks fail.
  let failsChecks = Atomic<Bool>(false)
  /// The reason why the last check that failed did.
  let checkFailure = Mutex<String?>(nil)
  /// The facts that a response may change, in one byte: each is compared with it, and the usual one changes nothing.
  private let responses = Atomic<UInt8>(0)
  private static let http10: UInt8 = 1
  private static let ejected: UInt8 = 2

  init(
    _ address: UpstreamAddress, proxy: ConnectProxy? = nil, tls: UpstreamTLS?, name: NameResolver?,
    limiter: ConnectionLimiter
  ) {
    self.address = address
    self.proxy = proxy
    text = address.description
    self.tls = tls
    self.name = name
    self.limiter = limiter
  }

  /// Whether the last response was HTTP/1.0: such a server knows no chunked requests (RFC 9112, 6.1).
  var isHTTP10: Bool { responses.load(ordering: .relaxed) & Self.http10 != 0 }

  /// Takes over from the same address in a previous group that it speaks HTTP/1.0.
  func learnHTTP10() { responses.bitwiseOr(Self.http10, ordering: .relaxed) }

  /// Whether an event loop has ejected it, and no event loop has had an answer since.
  var isEjected: Bool { responses.load(ordering: .relaxed) & Self.ejected != 0 }

  /// Notes a failed request, whichever event loop had it.
  func noteFailure(isMalformed: Bool) {
    if isMalformed { malformed.add(1, ordering: .relaxed) }
    lastFailureWasMalformed.store(isMalformed, ordering: .relaxed)
    failures.add(1, ordering: .relaxed)
  }

  /// Notes that an event loop has ejected it.
  func noteEjection() {
    ejections.add(1, ordering: .relaxed)
    responses.bitwiseOr(Self.ejected, ordering: .relaxed)
  }

  /// Notes an answer and its version, whichever event loop had it.
  @inline(__always)
  func noteAnswer(isHTTP11: Bool) {
    let state = isHTTP11 ? 0 : Self.http10
    if responses.load(ordering: .relaxed) != state { responses.store(state, ordering: .relaxed) }
  }

  /// The failure of a connection that has taken too long: names the lookup if that is what it waits for.
  var connectTimeout: UpstreamFailure {
    if let name, name.isAwaited { .lookupTimeout(name.host) } else { .connectTimeout }
  }

  /// The same address for connections that do not carry requests and are counted separately.
  func apart() -> UpstreamEndpoint {
    UpstreamEndpoint(address, proxy: proxy, tls: tls, name: name, limiter: ConnectionLimiter(limit: 0, queueLimit: 0))
  }
}
