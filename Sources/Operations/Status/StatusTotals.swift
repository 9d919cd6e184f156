/// Counters since the start of the process that the status page shows: few, because an hour of them is kept.
package struct StatusTotals: Sendable, Equatable {
  /// Requests that were answered, the application's and the gateway's own.
  package internal(set) var requests: UInt64 = 0
  /// Answers with a status of 400 to 499.
  package internal(set) var clientErrors: UInt64 = 0
  /// Answers with a status of 500 or more.
  package internal(set) var serverErrors: UInt64 = 0
  /// From the request header to the last byte, for all kinds of routes.
  package internal(set) var latency = LatencyHistogram.emptySnapshot
  /// Calls to Apple that were answered with success.
  package internal(set) var appleAnswered: UInt64 = 0
  /// Failed calls to Apple.
  package internal(set) var appleFailed: UInt64 = 0
  /// Successful sign-ins.
  package internal(set) var signIns: UInt64 = 0
  /// Failed sign-ins, without cancelled ones.
  package internal(set) var signInsFailed: UInt64 = 0
  /// Sessions that ended, for whatever reason.
  package internal(set) var sessionsEnded: UInt64 = 0
  /// Revalidations with a good answer.
  package internal(set) var checksGood: UInt64 = 0
  /// Revalidations with any other result.
  package internal(set) var checksOther: UInt64 = 0
  /// Requests that are being answered at the moment.
  package internal(set) var inFlight: Int64 = 0
  /// Connections of clients that are open at the moment.
  package internal(set) var connections: Int64 = 0
  /// Tunnels that are open at the moment.
  package internal(set) var tunnels: Int64 = 0

  /// Creates totals of zero.
  package init() {}
}

extension StatusTotals {
  /// The counters since the start, without latencies and the numbers of the moment.
  private static var counters: [WritableKeyPath<StatusTotals, UInt64>] {
    [
      \.requests, \.clientErrors, \.serverErrors, \.appleAnswered, \.appleFailed, \.signIns, \.signInsFailed,
      \.sessionsEnded, \.checksGood, \.checksOther,
    ]
  }

  /// The difference to earlier counters. A counter that decreased counts as unchanged.
  func since(_ earlier: StatusTotals) -> StatusTotals {
    var difference = self
    for counter in Self.counters {
      let (now, before) = (self[keyPath: counter], earlier[keyPath: counter])
      difference[keyPath: counter] = now > before ? now - before : 0
    }
    for (index, count) in earlier.latency.counts.enumerated() where index < difference.latency.counts.count {
      let now = difference.latency.counts[index]
      difference.latency.counts[index] = now > count ? now - count : 0
    }
    difference.latency.sumSeconds = max(0, latency.sumSeconds - earlier.latency.sumSeconds)
    return difference
  }

  /// Adds the counters of another period, and its latencies without their sum, which no summary shows.
  mutating func add(_ other: StatusTotals) {
    for counter in Self.counters { self[keyPath: counter] &+= other[keyPath: counter] }
    for index in latency.counts.indices { latency.counts[index] &+= other.latency.counts[index] }
  }
}

extension HistogramSnapshot {
  /// The duration in seconds that a part of all observations does not exceed, interpolated
  /// linearly within a bucket. Nil without observations.
  /// - Parameter part: 0.5 for the median, 0.99 for what only one in a hundred exceeds.
  package func quantile(_ part: Double) -> Double? {
    let total = count
    guard total > 0 else { return nil }
    let rank = part * Double(total)
    var below = 0.0
    for (index, count) in counts.enumerated() where count > 0 {
      let reached = below + Double(count)
      if reached >= rank || index == counts.count - 1 {
        let low = index == 0 ? 0 : bounds[min(index - 1, bounds.count - 1)]
        // A duration beyond all bounds counts as the longest.
        guard index < bounds.count else { return low }
        return low + (bounds[index] - low) * min(1, max(0, (rank - below) / Double(count)))
      }
      below = reached
    }
    return bounds.last
  }
}

extension MetricsRegistry {
  /// The totals of this moment.
  package func statusTotals() -> StatusTotals {
    let (requests, connections) = recorderTotals()
    var totals = StatusTotals()
    for (index, count) in requests.statuses.enumerated() where count > 0 {
      totals.requests &+= count
      switch index % RequestRecorder.statusCount {
      case 400..<500: totals.clientErrors &+= count
      case 500...: totals.serverErrors &+= count
      default: break
      }
    }
    for histogram in requests.durations {
      for index in histogram.counts.indices { totals.latency.counts[index] &+= histogram.counts[index] }
      totals.latency.sumSeconds += histogram.sumSeconds
    }
    totals.inFlight = requests.inFlight
    totals.tunnels = requests.openTunnels
    totals.connections = connections.clientsOpen
    for (labels, count) in appleCalls.all {
      if labels.last == "ok" { totals.appleAnswered &+= count } else { totals.appleFailed &+= count }
    }
    for (labels, count) in signIns.all {
      switch labels.first {
      case "success": totals.signIns &+= count
      // A cancelled sign-in is not a failure.
      case "cancelled": break
      default: totals.signInsFailed &+= count
      }
    }
    for (_, count) in sessionsEnded.all { totals.sessionsEnded &+= count }
    for (labels, count) in checks.all {
      if labels.first == "good" { totals.checksGood &+= count } else { totals.checksOther &+= count }
    }
    return totals
  }
}
