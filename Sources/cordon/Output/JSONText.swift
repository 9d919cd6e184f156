import FoundationEssentials

/// Prints a report as JSON.
func printJSON(_ report: some Encodable) throws { print(try jsonText(report)) }

/// Prints a report as JSON on one line.
func printJSONLine(_ report: some Encodable) throws { print(try jsonLine(report)) }

/// A report as JSON on several lines.
func jsonText(_ report: some Encodable) throws -> String { try encoded(report, [.prettyPrinted]) }

/// A report as JSON on one line.
func jsonLine(_ report: some Encodable) throws -> String { try encoded(report, []) }

private func encoded(_ report: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
  return String(decoding: try encoder.encode(report), as: UTF8.self)
}
