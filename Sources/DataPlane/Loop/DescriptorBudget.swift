internal import Synchronization

/// The descriptors of the process, shared out among its connections: one budget for all event loops, listeners and
/// upstreams.
///
/// The last descriptors are never used. Without one the process can neither accept, log nor read a certificate, and
/// libdispatch ends a process whose `/proc` it cannot open. So a reserve stays free of clients' connections and of
/// those to applications; connections to Apple and to the admin listener may use a part of it. Clients cannot take
/// everything from connections to applications either, nor the other way round.
package final class DescriptorBudget: Sendable {
  /// The use of a descriptor.
  package enum Use: Int, CaseIterable, Sendable {
    /// A connection of a client.
    case client
    /// A connection to an application, for a request.
    case upstream
    /// A connection of the gateway's own: to Apple, to a relay, or to ask an application how it is.
    case own
    /// A connection to the admin listener.
    case administration
  }

  /// The budget of this process: the limit is the process's, too.
  package static let process = DescriptorBudget(limit: DescriptorLimit.raised(), others: 64)

  private let shared: Atomic<Int>
  private let reserve: Atomic<Int>
  private let total = Atomic<Int>(0)
  private let counts = InlineArray<4, Atomic<Int>> { _ in Atomic(0) }
  private let refused = Atomic<Int>(0)
  private let sockets = Atomic<Int>(0)
  private let latest = Atomic<Int>(Shortage.descriptors.rawValue)
  private let paused = Atomic<Int>(0)
  private let late = Atomic<Int>(0)

  /// The resource that was missing for a connection.
  package enum Shortage: Int, Sendable {
    /// Descriptors of this process.
    case descriptors
    /// Open files of the whole system (ENFILE).
    case systemFiles
    /// Memory of the system for a socket (ENOBUFS, ENOMEM).
    case memory
  }

  /// - Parameters:
  ///   - limit: how many descriptors may be open.
  ///   - others: how many are open for what is not a connection.
  init(limit: Int, others: Int) {
    let shares = Shares(limit: limit, others: others)
    shared = Atomic(shares.shared)
    reserve = Atomic(shares.reserve)
  }

  /// The shares of a limit.
  struct Shares: Equatable {
    /// For connections, whatever they are for.
    let shared: Int
    /// Descriptors that client and upstream connections leave free.
    let reserve: Int

    /// - Parameter sockets: listening sockets: each may have accepted some connections before one of them is counted.
    init(limit: Int, others: Int, sockets: Int = 0) {
      reserve = min(64 + 4 * sockets, limit / 4)
      shared = max(4, limit - others - reserve)
    }
  }

  /// Divides the limit again: it may have been changed from outside, and others have opened what they need.
  /// - Parameter more: listening sockets that were opened.
  func measure(sockets more: Int) {
    let sockets = sockets.add(more, ordering: .relaxed).newValue
    let others = DescriptorLimit.inUse().map { max(0, $0 - total.load(ordering: .relaxed)) }
    apply(Shares(limit: DescriptorLimit.raised(), others: others ?? 64, sockets: sockets))
  }

  private func apply(_ shares: Shares) {
    shared.store(shares.shared, ordering: .relaxed)
    reserve.store(shares.reserve, ordering: .relaxed)
  }

  /// One more, unless it is enough. Each success wants a ``give(_:)``.
  func take(_ use: Use) -> Bool {
    let all = total.add(1, ordering: .relaxed).newValue
    let alike = counts[use.rawValue].add(1, ordering: .relaxed).newValue
    if all <= ceiling(use), alike <= share(use) {
      MemoryInUse.process.connections.change(by: 1)
      return true
    }
    putBack(use)
    ranOut()
    return false
  }

  func give(_ use: Use) {
    putBack(use)
    MemoryInUse.process.connections.change(by: -1)
  }

  private func putBack(_ use: Use) {
    counts[use.rawValue].subtract(1, ordering: .relaxed)
    total.subtract(1, ordering: .relaxed)
  }

  /// Returns the number of further descriptors for a use at this moment.
  func room(for use: Use) -> Int {
    min(
      ceiling(use) - total.load(ordering: .relaxed),
      share(use) - counts[use.rawValue].load(ordering: .relaxed))
  }

  /// A connection was not accepted, or not made.
  func ranOut(of shortage: Shortage = .descriptors) {
    latest.store(shortage.rawValue, ordering: .relaxed)
    refused.add(1, ordering: .relaxed)
  }

  /// The number of connections that were not accepted, or not made, for lack of a descriptor.
  package var refusals: Int { refused.load(ordering: .relaxed) }

  /// The resource that was missing for the last of them.
  package var latestShortage: Shortage { Shortage(rawValue: latest.load(ordering: .relaxed)) ?? .descriptors }

  /// Counts a listening socket that accepts nothing for lack of a descriptor, or does so no longer.
  func changePausedSockets(by change: Int) { paused.add(change, ordering: .relaxed) }

  /// The number of listening sockets that accept nothing at this moment for lack of a descriptor. While nothing is
  /// accepted, nothing is refused either.
  package var pausedSockets: Int { paused.load(ordering: .relaxed) }

  /// Counts a client that was accepted after its listening socket had accepted nothing for lack of a descriptor.
  func acceptedLate() { late.add(1, ordering: .relaxed) }

  /// Grows as long as clients are accepted in spite of a shortage: one at least for each pause of a listening socket
  /// that ends with a connection.
  package var lateAccepts: Int { late.load(ordering: .relaxed) }

  /// The largest number of client and upstream connections together.
  package var connections: Int { shared.load(ordering: .relaxed) }

  /// Up to how many connections of every kind there may be one more of this.
  private func ceiling(_ use: Use) -> Int {
    let all = shared.load(ordering: .relaxed)
    return switch use {
    case .client, .upstream: all
    case .own: all + reserve.load(ordering: .relaxed) / 4
    case .administration: all + reserve.load(ordering: .relaxed) / 2
    }
  }

  /// The most descriptors that one use may have.
  private func share(_ use: Use) -> Int {
    switch use {
    case .client, .upstream: max(1, shared.load(ordering: .relaxed) / 4 * 3)
    case .own, .administration: .max
    }
  }
}
