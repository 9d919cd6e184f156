/// Prometheus text exposition format 0.0.4, written one family at a time.
///
/// The format: for each family a line `# HELP NAME TEXT` (`\` and line feed escaped), a line `# TYPE NAME KIND`, and
/// its samples `NAME{LABEL="VALUE",…} NUMBER` (in label values `\`, `"` and line feed are escaped); a family stands in
/// one piece, and its name only once.
package struct MetricsText: Sendable {
  /// The content type of `/metrics`.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text written so far.
  package private(set) var bytes: [UInt8] = []
  private var name = ""

  /// Creates an empty text.
  package init() {}

  /// The type of a family, as its `# TYPE` line has it.
  package enum Kind: String, Sendable {
    /// A number that only grows while the process runs.
    case counter
    /// A number that may fall again.
    case gauge
    /// Counts of observations by upper bound (`le`), with their sum and number.
    case histogram
  }

  /// Begins a family. Names are our constants: letters, digits and `_`; counters end in `_total`, times are in seconds
  /// and sizes in bytes.
  package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    text("# HELP \(name) ")
    escaped(help, quotes: false)
    text("\n# TYPE \(name) \(kind.rawValue)\n")
  }

  /// A label of a sample; names are our constants.
  package typealias Label = (name: String, value: String)

  /// A sample of the family.
  package mutating func sample(_ labels: Label..., value: UInt64) { sample(suffix: "", labels, "\(value)") }

  /// A sample of the family.
  package mutating func sample(_ labels: Label..., value: Int64) { sample(suffix: "", labels, "\(value)") }

  /// A sample of the family.
  package mutating func sample(_ labels: Label..., value: Double) { sample(suffix: "", labels, Self.number(value)) }

  /// A sample of the family.
  package mutating func sample(labels: [Label], value: UInt64) { sample(suffix: "", labels, "\(value)") }

  /// A sample of the family.
  package mutating func sample(labels: [Label], value: Double) { sample(suffix: "", labels, Self.number(value)) }

  /// All samples of one histogram of the family: cumulative buckets, sum and count.
  package mutating func histogram(labels: [Label] = [], _ histogram: HistogramSnapshot) {
    var below: UInt64 = 0
    for (bound, count) in zip(histogram.bounds, histogram.counts) {
      below &+= count
      sample(suffix: "_bucket", labels + [("le", Self.number(bound))], "\(below)")
    }
    sample(suffix: "_bucket", labels + [("le", "+Inf")], "\(histogram.count)")
    sample(suffix: "_sum", labels, Self.number(histogram.sumSeconds))
    sample(suffix: "_count", labels, "\(histogram.count)")
  }

  private mutating func sample(suffix: String, _ labels: [Label], _ value: String) {
    text(name)
    text(suffix)
    for (index, label) in labels.enumerated() {
      text(index == 0 ? "{" : ",")
      text(label.name)
      text("=\"")
      escaped(label.value, quotes: true)
      text("\"")
    }
    if !labels.isEmpty { text("}") }
    text(" ")
    text(value)
    text("\n")
  }

  /// A number as Go's `ParseFloat` reads it; the format's infinities are `+Inf` and `-Inf`.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value), abs(value) < 1e15 { return "\(whole)" }
    return "\(value)"
  }

  private mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func escaped(_ text: String, quotes: Bool) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\"") where quotes: bytes.append(contentsOf: "\\\"".utf8)
      default: bytes.append(byte)
      }
    }
  }
}
