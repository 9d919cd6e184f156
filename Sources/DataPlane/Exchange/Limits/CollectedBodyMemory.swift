/// The memory of a request body that the gateway collects, counted for as long as this lives. If it is needed for
/// others, the request ends with 503.
final class CollectedBodyMemory {
  private let holder: Holder

  /// Of a body for an endpoint of the gateway's own, counted with incomplete requests: clients need no authorization
  /// for either.
  convenience init(forEndpointOf transport: some DownstreamTransport) {
    self.init(transport, counted: transport.server.loop.incompleteRequests)
  }

  /// Of a body for an application that needs its length, counted with others of them.
  /// - Parameter limit: most bytes of the body. There is room for two such, whatever the limit for all.
  convenience init(forUpstreamOf transport: some DownstreamTransport, atMost limit: Int) {
    let bodies = transport.server.loop.collectedBodies
    // A buffer that grows doubles.
    bodies.raiseLimit(to: 2 * 2 * limit)
    self.init(transport, counted: bodies)
  }

  private init(_ transport: some DownstreamTransport, counted unfinished: IncompleteRequestBudget) {
    holder = Holder(unfinished) { [unowned transport] in transport.refuse(.tooMuchMemory) }
  }

  deinit { holder.releaseHolding() }

  /// Counts so many bytes as held. May refuse this request, or others.
  /// - Returns: whether to continue; otherwise this request has been refused.
  func hold(_ count: Int) -> Bool {
    holder.hold(count)
    return holder.holding != nil
  }

  /// The owner in the list of all holders, which keeps it alive, but not the request.
  private final class Holder: IncompleteRequestOwner {
    let incompleteRequests: IncompleteRequestBudget
    var holding: IncompleteRequestBudget.Holding?
    private let refuse: () -> Void

    init(_ incompleteRequests: IncompleteRequestBudget, refuse: @escaping () -> Void) {
      self.incompleteRequests = incompleteRequests
      self.refuse = refuse
    }

    func giveUpRequest() {
      releaseHolding()
      refuse()
    }
  }
}
