/// The problems that prevent a configuration from being read: one line for each, with its location.
package struct SettingsError: Error, Sendable, CustomStringConvertible {
  /// One line for each, with its remedy, and with its location if it has one.
  package let problems: [String]

  /// Creates an error of at least one problem.
  package init(_ problems: [String]) { self.problems = problems }

  package var description: String { problems.joined(separator: "\n") }
}
