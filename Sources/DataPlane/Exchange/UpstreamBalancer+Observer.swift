internal import NIOCore

extension UpstreamBalancer {
  /// The upstreams of one event loop, by the number that ``ForwardingDirective/upstream`` has. Connections to an
  /// upstream that stays are kept; those to one that goes end with what they carry.
  /// - Parameter old: the upstreams before.
  static func all(
    _ targets: [UpstreamGroup], keeping old: [UpstreamBalancer], loop: LoopResources, observer: any ExchangeObserver
  ) -> [UpstreamBalancer] {
    let balancers = targets.map { target in
      old.first { $0.serves(target) }
        ?? UpstreamBalancer(target, loop: loop) { event in
          switch event {
          case .opened(let duration): observer.upstreamConnectionOpened(after: duration)
          case .failed(let failure): observer.upstreamConnectionFailed(ExchangeFailure(failure))
          case .malformed(let reason): observer.upstreamMalformed(reason, of: target.settings.name)
          case .ended: observer.upstreamConnectionEnded()
          }
        }
    }
    for balancer in old where !balancers.contains(where: { $0 === balancer }) { balancer.close() }
    return balancers
  }
}
