/// The result of a reload: the answer of `POST /reload`.
package struct ReloadReport: Codable, Sendable, Equatable {
  /// Whether a new configuration is in effect.
  package let reloaded: Bool
  /// The tables that differ from before; the files that the configuration names are read again in any case.
  package let changed: [String]
  /// The reasons why the running configuration is kept, one line each: `FILE:LINE:COLUMN: what; remedy` with a place.
  package let problems: [String]
  /// The members files that could not be read, each with its problem and the remedy: their groups keep their
  /// members. Nil without any.
  package let kept: [String]?

  /// The failure in the audit.
  var failure: String? { reloaded ? nil : "not_reloaded" }

  static func done(_ changed: [String], kept: [String] = []) -> ReloadReport {
    ReloadReport(reloaded: true, changed: changed, problems: [], kept: kept.isEmpty ? nil : kept)
  }

  static func refused(_ problems: [String]) -> ReloadReport {
    ReloadReport(reloaded: false, changed: [], problems: problems, kept: nil)
  }
}
