internal import Synchronization

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
