internal import Synchronization

/// Counts the requests of one event loop.
///
/// Every counter is preallocated, and recording is a few relaxed additions: no lock, no allocation, no dictionary. One
/// recorder for each loop keeps the counters of different cores in separate cache lines; the registry sums them on
/// demand.
package final class RequestRecorder: Sendable {
  /// A counter for each status from 0 (no valid status) to 599, for each route class.
  private let statuses = InlineArray<4200, Atomic<UInt64>> { _ in Atomic(0) }
  /// A counter for each host, by the number that the registry gave it.
  private let hosts = InlineArray<1024, Atomic<UInt64>> { _ in Atomic(0) }
  private let durations = InlineArray<7, LatencyHistogram> { _ in LatencyHistogram() }
  private let upstreamWaits = LatencyHistogram()
  private let bytesIn = Atomic<UInt64>(0)
  private let bytesOut = Atomic<UInt64>(0)
  private let started = Atomic<UInt64>(0)
  private let finished = Atomic<UInt64>(0)
  private let tunnelsOpened = Atomic<UInt64>(0)
  private let tunnelsClosed = Atomic<UInt64>(0)

  static let statusCount = 600
  /// The largest number of hosts with separate counts; further ones share the last number.
  static let hostLimit = 1_024

  init() {}

  /// A request header is complete, or was refused.
  package func requestStarted() { started.wrappingAdd(1, ordering: .relaxed) }

  /// A request is over. Follows each `requestStarted()` once.
  /// - Parameters:
  ///   - route: The kind of its route.
  ///   - status: The status that was sent; 499 if the client disconnected before.
  ///   - nanoseconds: From the complete request header to the last byte of the response.
  ///   - bytesIn: Bytes of the request's body.
  ///   - bytesOut: Bytes of the response's body.
  ///   - host: The number of the host, of ``MetricsRegistry/hostNumbers(of:)``.
  package func requestFinished(
    route: RouteLabel, status: Int, nanoseconds: UInt64, bytesIn: UInt64 = 0, bytesOut: UInt64 = 0, host: Int = 0
  ) {
    if (0..<Self.hostLimit).contains(host) { hosts[host].wrappingAdd(1, ordering: .relaxed) }
    let code = status >= 100 && status < Self.statusCount ? status : 0
    statuses[route.rawValue &* Self.statusCount &+ code].wrappingAdd(1, ordering: .relaxed)
    durations[route.rawValue].record(nanoseconds: nanoseconds)
    self.bytesIn.wrappingAdd(bytesIn, ordering: .relaxed)
    self.bytesOut.wrappingAdd(bytesOut, ordering: .relaxed)
    finished.wrappingAdd(1, ordering: .relaxed)
  }

  /// The response header of the upstream arrived, so many nanoseconds after the request was sent.
  package func upstreamAnswered(nanoseconds: UInt64) { upstreamWaits.record(nanoseconds: nanoseconds) }

  /// A connection became a tunnel (WebSocket and other upgrades).
  package func tunnelOpened() { tunnelsOpened.wrappingAdd(1, ordering: .relaxed) }

  /// A tunnel is closed. Follows each `tunnelOpened()` once.
  package func tunnelClosed() { tunnelsClosed.wrappingAdd(1, ordering: .relaxed) }

  /// Adds what was counted so far.
  func add(to totals: inout Totals) {
    for index in 0..<totals.statuses.count { totals.statuses[index] &+= statuses[index].load(ordering: .relaxed) }
    for index in 0..<totals.hosts.count { totals.hosts[index] &+= hosts[index].load(ordering: .relaxed) }
    for route in 0..<RouteLabel.allCases.count { durations[route].add(to: &totals.durations[route]) }
    upstreamWaits.add(to: &totals.upstreamWaits)
    totals.bytesIn &+= bytesIn.load(ordering: .relaxed)
    totals.bytesOut &+= bytesOut.load(ordering: .relaxed)
    // The end is read before the beginning, so that a request between the two never makes the difference negative.
    let finished = finished.load(ordering: .relaxed)
    totals.inFlight += Int64(bitPattern: started.load(ordering: .relaxed) &- finished)
    let closed = tunnelsClosed.load(ordering: .relaxed)
    totals.openTunnels += Int64(bitPattern: tunnelsOpened.load(ordering: .relaxed) &- closed)
  }

  /// Sums over the recorders of every loop.
  struct Totals {
    var statuses = [UInt64](repeating: 0, count: RouteLabel.allCases.count * RequestRecorder.statusCount)
    var hosts = [UInt64](repeating: 0, count: RequestRecorder.hostLimit)
    var durations = RouteLabel.allCases.map { _ in LatencyHistogram.emptySnapshot }
    var upstreamWaits = LatencyHistogram.emptySnapshot
    var bytesIn: UInt64 = 0
    var bytesOut: UInt64 = 0
    var inFlight: Int64 = 0
    var openTunnels: Int64 = 0
  }
}
