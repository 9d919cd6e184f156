/// A reader of Prometheus text exposition format 0.0.4 that is as strict as the page that describes it, written apart
/// from the writer.
struct ExpositionFormat {
  struct Family {
    var kind = ""
    var help = ""
    var samples: [(name: String, labels: [String: String], value: Double)] = []
  }

  struct Violation: Error, CustomStringConvertible { let description: String }

  private(set) var families: [String: Family] = [:]

  init(_ bytes: [UInt8]) throws {
    guard bytes.last == 0x0A else { throw Violation(description: "the last line has no line feed") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Violation(description: "not valid UTF-8") }
    var open = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if line.hasPrefix("# HELP ") {
        let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1)
        open = String(parts[0])
        guard families[open] == nil else { throw Violation(description: "two families named \(open)") }
        families[open] = Family(help: parts.count > 1 ? String(parts[1]) : "")
      } else if line.hasPrefix("# TYPE ") {
        let parts = line.dropFirst(7).split(separator: " ")
        guard parts.count == 2, parts[0] == open, families[open]?.kind == "", families[open]?.samples.isEmpty == true
        else { throw Violation(description: "misplaced: \(line)") }
        families[open]?.kind = String(parts[1])
      } else {
        let sample = try Self.sample(line)
        let suffixes = families[open]?.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { open + $0 == sample.name }) else {
          throw Violation(description: "outside of its family: \(line)")
        }
        guard families[open]?.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) == false
        else { throw Violation(description: "twice: \(line)") }
        families[open]?.samples.append(sample)
      }
    }
    for (name, family) in families { try Self.check(name, family) }
  }

  /// The value of the one sample with these labels.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    for family in families.values {
      if let sample = family.samples.first(where: { $0.name == name && $0.labels == labels }) { return sample.value }
    }
    return nil
  }

  private static func sample(_ line: Substring) throws -> (name: String, labels: [String: String], value: Double) {
    var rest = line
    let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
    rest = rest.dropFirst(name.count)
    guard let first = name.first, !first.isNumber else { throw Violation(description: "no name: \(line)") }
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest = rest.dropFirst()
      while rest.first != "}" {
        let label = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        rest = rest.dropFirst(label.count)
        guard !label.isEmpty, rest.hasPrefix("=\"") else { throw Violation(description: "label: \(line)") }
        rest = rest.dropFirst(2)
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
          guard character == "\\" else {
            value.append(character)
            continue
          }
          switch rest.popFirst() {
          case "n": value.append("\n")
          case "\\": value.append("\\")
          case "\"": value.append("\"")
          default: throw Violation(description: "escape: \(line)")
          }
        }
        guard labels.updateValue(value, forKey: String(label)) == nil else {
          throw Violation(description: "label twice: \(line)")
        }
        if rest.first == "," { rest = rest.dropFirst() }
        guard !rest.isEmpty else { throw Violation(description: "labels are not closed: \(line)") }
      }
      rest = rest.dropFirst()
    }
    guard rest.first == " " else { throw Violation(description: "no space: \(line)") }
    let number = rest.dropFirst()
    guard let value = number == "+Inf" ? .infinity : number == "-Inf" ? -.infinity : Double(number) else {
      throw Violation(description: "no number: \(line)")
    }
    return (String(name), labels, value)
  }

  private static func check(_ name: String, _ family: Family) throws {
    switch family.kind {
    case "counter":
      guard name.hasSuffix("_total") else { throw Violation(description: "\(name) is a counter without _total") }
      guard family.samples.allSatisfy({ $0.value >= 0 }) else { throw Violation(description: "\(name) is negative") }
    case "gauge": break
    case "histogram":
      let groups = Dictionary(grouping: family.samples) { $0.labels.filter { $0.key != "le" } }
      for (labels, samples) in groups {
        let buckets = samples.filter { $0.name == name + "_bucket" }
        let bounds = buckets.compactMap { $0.labels["le"].flatMap { $0 == "+Inf" ? .infinity : Double($0) } }
        guard bounds.count == buckets.count, bounds == bounds.sorted(), bounds.last == .infinity,
          buckets.map(\.value) == buckets.map(\.value).sorted(),
          let count = samples.first(where: { $0.name == name + "_count" })?.value, count == buckets.last?.value,
          samples.contains(where: { $0.name == name + "_sum" })
        else { throw Violation(description: "\(name)\(labels) is not a histogram") }
      }
    default: throw Violation(description: "\(name) has the type \(family.kind)")
    }
  }
}
