internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Attempts to connect to the addresses of one host (Happy Eyeballs, RFC 8305): one after the other, IPv6 and IPv4 in
/// turn, the next as soon as one has failed or has taken longer than connections do; the first that succeeds wins, and
/// the others are cancelled.
final class ConnectionRace {
  typealias Attempt = () -> PendingConnection

  private let eventLoop: any EventLoop
  private let promise: EventLoopPromise<any Channel>
  private var waiting: ArraySlice<Attempt>
  /// The attempts under way, by their number.
  private var running: [Int: PendingConnection] = [:]
  private var begunCount = 0
  private var firstError: (any Error)?
  private var isDecided = false
  /// Begins the next attempt beside those under way.
  private var timer: Scheduled<Void>?

  /// The delay between two attempts (RFC 8305, 5).
  static let delay = TimeAmount.milliseconds(250)

  /// - Parameters:
  ///   - attempts: one for each of `addresses`.
  ///   - addresses: in the order of preference within a family.
  /// - Returns: the connection that was first. Fails with the first attempt's error that says something about the host,
  ///   or ``UnresolvedHostError``.
  static func run(
    _ attempts: [Attempt], inOrderOf addresses: [SocketAddress], host: String, on eventLoop: any EventLoop
  ) -> PendingConnection {
    guard !attempts.isEmpty else {
      return PendingConnection(channel: eventLoop.makeFailedFuture(UnresolvedHostError(host: host))) {}
    }
    let race = ConnectionRace(order(addresses).map { attempts[$0] }, on: eventLoop)
    race.begin()
    return PendingConnection(channel: race.promise.futureResult) { race.cancel() }
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
    let number = begunCount
    begunCount += 1
    let connection = attempt()
    running[number] = connection
    let race = NIOLoopBound(self, eventLoop: eventLoop)
    connection.channel.whenComplete { race.value.ended(number, $0) }
    // An attempt that has failed at once has begun the next one, with its timer.
    guard !isDecided, timer == nil, !waiting.isEmpty else { return }
    timer = eventLoop.scheduleTask(in: Self.delay) { race.value.begin() }
  }

  private func ended(_ number: Int, _ result: Result<any Channel, any Error>) {
    running[number] = nil
    switch result {
    case .success(let channel):
      guard !isDecided else { return channel.close(promise: nil) }
      decide { $0.succeed(channel) }
    case .failure(let error):
      if firstError.map(Self.lacksLocalAddress) ?? true { firstError = error }
      guard !isDecided else { return }
      if waiting.isEmpty, running.isEmpty { decide { $0.fail(firstError ?? error) } } else { begin() }
    }
  }

  /// Whether an attempt had no local address: of a family that is off on this system. Another attempt's error says more
  /// about the host.
  private static func lacksLocalAddress(_ error: any Error) -> Bool { (error as? IOError)?.errnoCode == EADDRNOTAVAIL }

  private func cancel() {
    guard !isDecided else { return }
    decide { $0.fail(CancellationError()) }
  }

  private func decide(_ complete: (EventLoopPromise<any Channel>) -> Void) {
    isDecided = true
    timer?.cancel()
    timer = nil
    waiting = []
    // Those that have lost would keep their descriptors until their time-outs.
    for connection in running.values { connection.cancel() }
    complete(promise)
  }
}
