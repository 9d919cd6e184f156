/// The problems that prevent a configuration from being read: one line for each, with its location.
package struct SettingsError: Error, Sendable, CustomStringConvertible {
  package let problems: [String]

  package init(_ problems: [String]) { self.problems = problems }

  package var description: String { problems.joined(separator: "\n") }
}
