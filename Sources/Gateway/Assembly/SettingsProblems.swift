/// What keeps a configuration from being read: one line for each problem, with its place.
package struct SettingsProblems: Error, Sendable, CustomStringConvertible {
  package let problems: [String]

  package init(_ problems: [String]) { self.problems = problems }

  package var description: String { problems.joined(separator: "\n") }
}
