internal import NIOCore

extension UpstreamBalancer {
  /// The upstreams of one event loop, by the number that ``ForwardingDirective/upstream`` has. Connections to an
  /// upstream that stays are kept; those to one that goes end with what they carry.
  /// - Parameter old: the upstreams before.
  static func all(
    _ groups: [UpstreamGroup], keeping old: [UpstreamBalancer], loop: LoopResources, observer: any ExchangeObserver
  ) -> [UpstreamBalancer] {
    let balancers = groups.map { group in
      old.first { $0.serves(group) }
        ?? UpstreamBalancer(group, loop: loop) { event in
          switch event {
          case .opened(let duration): observer.upstreamConnectionOpened(after: duration)
          case .failed(let failure): observer.upstreamConnectionFailed(ExchangeFailure(failure))
          case .malformed(let reason): observer.upstreamMalformed(reason, of: group.settings.name)
          case .ended: observer.upstreamConnectionEnded()
          }
        }
    }
    for balancer in old where !balancers.contains(where: { $0 === balancer }) { balancer.close() }
    return balancers
  }
}
