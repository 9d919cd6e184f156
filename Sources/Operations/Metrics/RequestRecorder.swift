/// Counts the requests of one event loop.
///
/// Every counter is preallocated, and recording is a few additions: no lock, no allocation, no dictionary. One recorder
/// for each loop, which alone may call its methods, keeps the counters of different cores in separate cache lines; the
/// registry sums them on demand.
package final class RequestRecorder: Sendable {
  /// A counter for each status from 0 (no valid status) to 599, for each kind of route.
  private let statuses = InlineArray<4200, LoopCounter> { _ in LoopCounter() }
  /// A counter for each host, by the number that the registry gave it.
  private let hosts = InlineArray<1024, LoopCounter> { _ in LoopCounter() }
  private let durations = InlineArray<7, LatencyHistogram> { _ in LatencyHistogram() }
  private let upstreamWaits = LatencyHistogram()
  private let bytesIn = LoopCounter()
  private let bytesOut = LoopCounter()
  private let started = LoopCounter()
  private let finished = LoopCounter()
  private let tunnelsOpened = LoopCounter()
  private let tunnelsClosed = LoopCounter()

  static let statusCount = 600
  /// The largest number of hosts with separate counts; further ones share the last number.
  static let hostLimit = 1_024

  init() {}

  /// A request header is complete, or was refused.
  package func requestStarted() { started.add() }

  /// A request is over. Follows each `requestStarted()` once.
  /// - Parameters:
  ///   - route: the kind of its route.
  ///   - status: the status that was sent; 499 if the client disconnected before.
  ///   - nanoseconds: from the complete request header to the last byte of the response.
  ///   - bytesIn: bytes of the request's body.
  ///   - bytesOut: bytes of the response's body.
  ///   - host: the number of the host, of ``MetricsRegistry/hostNumbers(of:)``.
  package func requestFinished(
    route: RouteLabel, status: Int, nanoseconds: UInt64, bytesIn: UInt64 = 0, bytesOut: UInt64 = 0, host: Int = 0
  ) {
    if (0..<Self.hostLimit).contains(host) { hosts[host].add() }
    let code = status >= 100 && status < Self.statusCount ? status : 0
    statuses[route.rawValue &* Self.statusCount &+ code].add()
    durations[route.rawValue].record(nanoseconds: nanoseconds)
    self.bytesIn.add(bytesIn)
    self.bytesOut.add(bytesOut)
    finished.add()
  }

  /// The response header of the upstream arrived, so many nanoseconds after the request was sent.
  package func upstreamAnswered(nanoseconds: UInt64) { upstreamWaits.record(nanoseconds: nanoseconds) }

  /// A connection became a tunnel (WebSocket and other upgrades).
  package func tunnelOpened() { tunnelsOpened.add() }

  /// A tunnel is closed. Follows each `tunnelOpened()` once.
  package func tunnelClosed() { tunnelsClosed.add() }

  /// Adds what was counted so far.
  func add(to totals: inout Totals) {
    for index in 0..<totals.statuses.count { totals.statuses[index] &+= statuses[index].total }
    for index in 0..<totals.hosts.count { totals.hosts[index] &+= hosts[index].total }
    for route in 0..<RouteLabel.allCases.count { durations[route].add(to: &totals.durations[route]) }
    upstreamWaits.add(to: &totals.upstreamWaits)
    totals.bytesIn &+= bytesIn.total
    totals.bytesOut &+= bytesOut.total
    // The end is read before the beginning, so that a request between the two never makes the difference negative.
    let finished = finished.total
    totals.inFlight += Int64(bitPattern: started.total &- finished)
    let closed = tunnelsClosed.total
    totals.openTunnels += Int64(bitPattern: tunnelsOpened.total &- closed)
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
