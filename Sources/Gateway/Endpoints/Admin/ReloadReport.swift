/// What came of a reload: the answer of `POST /reload`.
package struct ReloadReport: Codable, Sendable, Equatable {
  /// Whether another configuration holds from now on.
  package let reloaded: Bool
  /// The tables that differ from before; what stands in the files that the configuration names is read anew in any
  /// case.
  package let changed: [String]
  /// Why the running configuration goes on, one line each: `FILE:LINE:COLUMN: what; remedy` where it has a place.
  package let problems: [String]

  /// What the audit says of one that came to nothing.
  var failure: String? { reloaded ? nil : "not_reloaded" }

  static func done(_ changed: [String]) -> ReloadReport {
    ReloadReport(reloaded: true, changed: changed, problems: [])
  }

  static func refused(_ problems: [String]) -> ReloadReport {
    ReloadReport(reloaded: false, changed: [], problems: problems)
  }
}
