internal import Synchronization

/// Counts rare events by their labels: sign-ins, checks, calls to Apple. Behind a lock: not for the data plane.
///
/// Label values are constants of the program. Should untrusted text ever get here, it cannot create more than
/// `seriesLimit` series: further ones count as `other`.
package final class Counter: Sendable {
  /// The largest number of combinations of label values.
  package static let seriesLimit = 100

  let name: String
  let help: String
  let labelNames: [String]
  private let counts: Mutex<[[String]: UInt64]>

  /// - Parameters:
  ///   - name: The family's name, ending in `_total`.
  ///   - labelNames: The labels of each event.
  ///   - expected: Label values that are exposed as 0 before they first occur, so that rates can be computed.
  init(name: String, help: String, labelNames: [String], expected: [[String]] = []) {
    self.name = name
    self.help = help
    self.labelNames = labelNames
    counts = Mutex(Dictionary(expected.map { ($0, 0) }, uniquingKeysWith: { first, _ in first }))
  }

  /// Counts one event, with a value for each label: missing ones are empty, surplus ones are ignored.
  package func count(_ labels: String...) {
    var key = Array(labels.prefix(labelNames.count))
    while key.count < labelNames.count { key.append("") }
    counts.withLock { counts in
      if counts[key] == nil, counts.count >= Self.seriesLimit { key = labelNames.map { _ in "other" } }
      counts[key, default: 0] &+= 1
    }
  }

  /// The number of events with exactly these labels.
  package func total(_ labels: String...) -> UInt64 { counts.withLock { $0[labels] ?? 0 } }

  /// Every count, by its label values.
  var all: [[String]: UInt64] { counts.withLock { $0 } }

  func write(to text: inout MetricsText) {
    text.family(name, .counter, help)
    for (values, count) in all.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      text.sample(labels: zip(labelNames, values).map { ($0, $1) }, value: count)
    }
  }
}

/// Histograms of rare and slow events, by one label. Behind a lock: not for the data plane.
package final class DurationHistogram: Sendable {
  let name: String
  let help: String
  let labelName: String
  private let histograms: Mutex<[String: HistogramSnapshot]>

  /// Upper bounds in seconds: Apple normally takes tenths of a second, and times out after ten or more.
  static let bounds: [Double] = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30]

  init(name: String, help: String, labelName: String, expected: [String] = []) {
    self.name = name
    self.help = help
    self.labelName = labelName
    histograms = Mutex(
      Dictionary(
        expected.map { ($0, HistogramSnapshot(bounds: Self.bounds)) }, uniquingKeysWith: { first, _ in first }))
  }

  /// Records the duration of one event. Negative values and NaN count as zero.
  package func record(_ label: String, seconds: Double) {
    let seconds = seconds > 0 ? seconds : 0
    histograms.withLock { histograms in
      let known = histograms[label] != nil || histograms.count < Counter.seriesLimit
      histograms[known ? label : "other", default: HistogramSnapshot(bounds: Self.bounds)].add(seconds: seconds)
    }
  }

  func write(to text: inout MetricsText) {
    text.family(name, .histogram, help)
    let snapshot = histograms.withLock { $0 }
    for (label, histogram) in snapshot.sorted(by: { $0.key < $1.key }) {
      text.histogram(labels: [(labelName, label)], histogram)
    }
  }
}

extension HistogramSnapshot {
  mutating func add(seconds: Double) {
    counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] &+= 1
    sumSeconds += seconds
  }
}
