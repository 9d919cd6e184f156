internal import NIOCore

/// Attempts to connect to the addresses of one host (Happy Eyeballs, RFC 8305): one after the other, IPv6 and IPv4 in
/// turn, the next as soon as one has failed or has taken longer than connections do; the first that succeeds wins.
final class ConnectionRace {
  typealias Attempt = () -> EventLoopFuture<any Channel>

  private let eventLoop: any EventLoop
  private let promise: EventLoopPromise<any Channel>
  private var waiting: ArraySlice<Attempt>
  private var running = 0
  private var firstError: (any Error)?
  private var isDecided = false
  /// Begins the next attempt beside those under way.
  private var timer: Scheduled<Void>?

  /// The delay between two attempts (RFC 8305, 5).
  static let delay = TimeAmount.milliseconds(250)

  /// - Parameters:
  ///   - attempts: one for each of `addresses`.
  ///   - addresses: in the order of preference within a family.
  /// - Returns: the connection that was first. Fails with the first attempt's error, or ``UnresolvedHost``.
  static func run(
    _ attempts: [Attempt], inOrderOf addresses: [SocketAddress], host: String, on eventLoop: any EventLoop
  ) -> EventLoopFuture<any Channel> {
    guard !attempts.isEmpty else { return eventLoop.makeFailedFuture(UnresolvedHost(host: host)) }
    let race = ConnectionRace(order(addresses).map { attempts[$0] }, on: eventLoop)
    race.begin()
    return race.promise.futureResult
  }

  private init(_ attempts: [Attempt], on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    promise = eventLoop.makePromise()
    waiting = attempts[...]
  }

  /// The places of `addresses` in the order of attempts: the families in turn, IPv6 first.
  static func order(_ addresses: [SocketAddress]) -> [Int] {
    let first = addresses.indices.filter { addresses[$0].protocol == .inet6 }
    let second = addresses.indices.filter { addresses[$0].protocol != .inet6 }
    return (0..<max(first.count, second.count)).flatMap { place in
      [first, second].compactMap { $0.indices.contains(place) ? $0[place] : nil }
    }
  }

  private func begin() {
    timer?.cancel()
    timer = nil
    guard !isDecided, let attempt = waiting.popFirst() else { return }
    running += 1
    let race = NIOLoopBound(self, eventLoop: eventLoop)
    attempt().whenComplete { race.value.ended($0) }
    // An attempt that has failed at once has begun the next one, with its timer.
    guard !isDecided, timer == nil, !waiting.isEmpty else { return }
    timer = eventLoop.scheduleTask(in: Self.delay) { race.value.begin() }
  }

  private func ended(_ result: Result<any Channel, any Error>) {
    running -= 1
    switch result {
    case .success(let channel):
      guard !isDecided else { return channel.close(promise: nil) }
      decide { $0.succeed(channel) }
    case .failure(let error):
      if firstError == nil { firstError = error }
      guard !isDecided else { return }
      if waiting.isEmpty, running == 0 { decide { $0.fail(firstError ?? error) } } else { begin() }
    }
  }

  private func decide(_ complete: (EventLoopPromise<any Channel>) -> Void) {
    isDecided = true
    timer?.cancel()
    timer = nil
    complete(promise)
  }
}
