internal import HTTPWire
internal import WebFormats

/// The configuration of a listener as its exchanges need it.
struct ExchangeConfiguration {
  let rules: ForwardingRules
  let parser: RequestHeadParser
  let bodyLimits: BodyLimits
  /// Least bytes per second of a response, 0 for none.
  let responseRate: Int
  let waits: ClientWaits
  let trustedProxies: [NetworkPrefix]
  /// Whether every request is redirected to the origin of its host; otherwise the gate decides.
  let redirects: Bool
}
