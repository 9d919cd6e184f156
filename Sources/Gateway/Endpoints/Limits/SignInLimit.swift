internal import DataPlane
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import Operations
internal import Pages
internal import Sessions
internal import Synchronization
internal import WebFormats

/// Limits how often each client address starts to sign in, asks for access or opens an invitation
/// (`limits.clients.sign_ins`). Shared by all event loops and endpoints; forwarded requests do not use it.
///
/// Requests that start nothing are not counted. Those that pages of other sites cause are counted separately: a hostile
/// page cannot use up the limit of its visitor, and a client that forges the header at most doubles its own.
struct SignInLimit: Sendable {
  /// Kinds of requests that share one limit, and have separate metrics.
  enum Kind: String {
    case signIn = "sign_in"
    case native
    case accessRequest = "access_request"
    case invitation
  }

  /// The counts, which a reload keeps.
  private final class Counts: Sendable {
    let rate: SignInRate
    let table: Mutex<ClientRateTable>
    /// Counts requests that pages of other sites cause.
    let otherSites: Mutex<ClientRateTable>
    let warnings: LogLimit

    init(_ rate: SignInRate) {
      self.rate = rate
      table = Mutex(ClientRateTable(rate))
      otherSites = Mutex(ClientRateTable(rate))
      warnings = LogLimit()
    }

    /// The counts of another rate, from which these continue.
    init(_ rate: SignInRate, after previous: Counts, at now: UInt64) {
      self.rate = rate
      table = Mutex(previous.table.withLock { $0.adapted(to: rate, at: now) })
      otherSites = Mutex(previous.otherSites.withLock { $0.adapted(to: rate, at: now) })
      warnings = previous.warnings
    }
  }

  private let counts: Counts
  /// Proxies, which are not limited because their address stands for many clients.
  private let trustedProxies: [NetworkPrefix]
  private let metrics: MetricsRegistry
  private let logger: Logger

  /// - Parameters:
  ///   - rate: nil for no limit.
  ///   - previous: the limit before, at a reload, whose counts are kept.
  init?(
    _ rate: SignInRate?, trustedProxies: [NetworkPrefix], metrics: MetricsRegistry, logger: Logger,
    after previous: SignInLimit? = nil, now: NIODeadline = .now()
  ) {
    guard let rate else { return nil }
    if let before = previous?.counts {
      counts = before.rate == rate ? before : Counts(rate, after: before, at: now.uptimeNanoseconds)
    } else {
      counts = Counts(rate)
    }
    self.trustedProxies = trustedProxies
    self.metrics = metrics
    self.logger = logger
  }

  /// Counts a request, unless it exceeds the limit. Trusted proxies and clients of a Unix socket are not limited.
  /// - Returns: the seconds after which the client may try again; nil if the request may proceed.
  func refusal(_ kind: Kind, _ request: ControlRequest, now: NIODeadline = .now()) -> Int? {
    guard let address = IPAddress(request.client.address),
      !trustedProxies.contains(where: { $0.contains(address) })
    else { return nil }
    let (network, time) = (ClientNetwork(address), now.uptimeNanoseconds)
    let refusal =
      request.isOfAnotherSite
      ? counts.otherSites.withLock { $0.refusal(of: network, at: time) }
      : counts.table.withLock { $0.refusal(of: network, at: time) }
    guard let seconds = refusal else { return nil }
    metrics.clientLimitRefusals.count(kind.rawValue)
    if counts.warnings.isDue(at: .nanoseconds(time)) {
      logger.warning(
        "too many sign-ins from one address, answering 429",
        metadata: [
          "peer": "\(request.client.address)", "limit": "\(kind.rawValue)", "request": "\(request.requestID)",
        ])
    }
    return seconds
  }
}

extension EndpointPages {
  /// Wraps an endpoint's action with the limit of sign-ins; requests beyond it are answered 429 with `Retry-After`.
  /// - Parameters:
  ///   - limit: nil for none.
  ///   - json: whether clients get JSON whatever they accept.
  ///   - counts: whether a request could start something; others are handled without being counted.
  func within(
    _ limit: SignInLimit?, _ kind: SignInLimit.Kind, json: Bool = false,
    counts: @escaping @Sendable (ControlRequest) -> Bool = { _ in true },
    _ handle: @escaping EndpointHandler
  ) -> EndpointHandler {
    guard let limit else { return handle }
    return { request in
      guard counts(request), let seconds = limit.refusal(kind, request) else { return await handle(request) }
      var response = json ? failureJSON(.tooManyRequests, request) : failure(.tooManyRequests, request)
      response.head.headerFields[.retryAfter] = String(seconds)
      return response
    }
  }
}
