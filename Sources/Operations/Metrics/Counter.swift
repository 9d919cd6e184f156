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
  ///   - name: the family's name, ending in `_total`.
  ///   - labelNames: the labels of each event.
  ///   - expected: label values that are exposed as 0 before they first occur, so that rates can be computed.
  init(name: String, help: String, labelNames: [String], expected: [[String]]) {
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
