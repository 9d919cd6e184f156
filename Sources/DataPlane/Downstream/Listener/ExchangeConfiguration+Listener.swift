internal import HTTPWire
internal import NIOCore

extension ExchangeConfiguration {
  /// The part of a listener's configuration that its exchanges need.
  /// - Parameter acceptor: the settings of the address.
  init(_ configuration: ListenerConfiguration, _ acceptor: AcceptorSettings) {
    let (limits, timeouts) = (configuration.settings.limits, configuration.settings.timeouts)
    self.init(
      rules: configuration.rules, parser: RequestHeadParser(limits: HeadLimits(limits)),
      bodyLimits: BodyLimits(bytes: limits.bodyBytes, rate: limits.bodyRate, grace: TimeAmount(timeouts.bodyGrace)),
      responseRate: limits.responseRate, waits: ClientWaits(timeouts), trustedProxies: acceptor.trustedProxies,
      redirects: acceptor.redirects)
  }
}

extension ClientWaits {
  init(_ timeouts: ListenerTimeouts) {
    self.init(
      head: TimeAmount(timeouts.head), bodyProgress: TimeAmount(timeouts.bodyProgress), idle: TimeAmount(timeouts.idle),
      writeProgress: TimeAmount(timeouts.writeProgress), handshake: TimeAmount(timeouts.handshake))
  }
}

extension HeadLimits {
  init(_ limits: RequestLimits) {
    self.init(headBytes: limits.headBytes, fieldCount: limits.fieldCount, targetBytes: limits.targetBytes)
  }
}
