internal import FoundationEssentials
internal import Sessions

extension [DamagedRecord] {
  /// Their names, as reports list them; nil if there are none.
  var names: [String?]? { isEmpty ? nil : map(\.name) }
}

extension Date {
  /// In UTC, to the second.
  var rfc3339: String { ISO8601Format() }
}
