/// The memory of a request body that the gateway collects for an endpoint of its own, counted with that of incomplete
/// headers: clients need no authorization for either.
final class CollectedBody {
  private let holder: Holder

  /// - Parameter transport: ends the request with 503 if its memory is needed.
  init(of transport: some DownstreamTransport) {
    holder = Holder(transport.server.loop.unfinished) { [unowned transport] in transport.refuse(.tooMuchMemory) }
  }

  deinit { holder.letGo() }

  /// Counts so many bytes as held. May refuse this request, or others.
  /// - Returns: whether to continue; otherwise this request has been refused.
  func hold(_ count: Int) -> Bool {
    holder.hold(count)
    return holder.holding != nil
  }

  /// The owner in the list of all holders, which keeps it alive, but not the request.
  private final class Holder: UnfinishedHeadOwner {
    let unfinishedHeads: UnfinishedHeads
    var holding: UnfinishedHeads.Holding?
    private let refuse: () -> Void

    init(_ unfinishedHeads: UnfinishedHeads, refuse: @escaping () -> Void) {
      self.unfinishedHeads = unfinishedHeads
      self.refuse = refuse
    }

    func giveUpHead() {
      letGo()
      refuse()
    }
  }
}
