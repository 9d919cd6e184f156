internal import NIOCore

/// Reviews the exchanges of a listener's connections on one event loop, in rounds about a second apart, for as long as
/// there are any. Used on that loop only.
final class ReviewRounds {
  private let gate: any RequestGate
  private let eventLoop: any EventLoop
  /// Connections that have carried an exchange with an upstream since the last review: those that are idle are not
  /// looked at.
  private var connections: [any ReviewedConnection] = []
  /// Whether the next round is scheduled.
  private var isScheduled = false

  /// Exchanges end within two seconds of their session, and other gateways may learn of its end a second late.
  private static let interval = TimeAmount.milliseconds(750)
  /// The pause after a review in which the gate has asked the store, so that the answer takes effect soon.
  private static let answerPause = TimeAmount.milliseconds(100)

  init(gate: any RequestGate, eventLoop: any EventLoop) {
    self.gate = gate
    self.eventLoop = eventLoop
  }

  /// Has the exchanges of a connection reviewed, until it says that it has none.
  func add(_ connection: any ReviewedConnection) {
    connections.append(connection)
    schedule(in: Self.interval)
  }

  private func schedule(in pause: TimeAmount) {
    guard !isScheduled else { return }
    isScheduled = true
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    eventLoop.scheduleTask(in: pause) { bound.value.run() }
  }

  private func run() {
    let reviewed = connections
    connections.removeAll(keepingCapacity: true)
    let now = NIODeadline.now()
    for connection in reviewed where connection.review(at: now) { connections.append(connection) }
    let hasAsked = gate.reviewEnded()
    isScheduled = false
    if !connections.isEmpty { schedule(in: hasAsked ? Self.answerPause : Self.interval) }
  }
}
