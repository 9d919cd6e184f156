/// One problem of a configuration, with its location and remedy.
package struct ConfigurationDiagnostic: Sendable, Hashable, CustomStringConvertible {
  /// The consequence.
  package enum Severity: Sendable {
    /// The configuration cannot be used.
    case error
    /// It can be, but may not do what was meant.
    case warning
  }

  /// The kind of cause, which says whether a start can succeed later without a change by the operator.
  package enum Cause: Sendable {
    /// The file, or a file that it names.
    case contents
    /// The machine or a file system: the same files may be read later.
    case machine
    /// A certificate and a key that do not belong together, as while both are being replaced.
    case mismatch
  }

  /// Whether the configuration can be used in spite of it.
  package var severity: Severity
  /// The file as it was named on the command line.
  package var file: String
  /// From 1.
  package var line: Int
  /// From 1, in characters.
  package var column: Int
  /// The problem. It never contains the value of an environment variable or of a secret.
  package var problem: String
  /// The remedy.
  package var remedy: String
  /// The kind of cause.
  package var cause: Cause

  init(
    _ severity: Severity = .error, file: String, line: Int, column: Int, problem: String, remedy: String,
    cause: Cause = .contents
  ) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.problem = problem
    self.remedy = remedy
    self.cause = cause
  }

  /// `FILE:LINE:COLUMN: problem; remedy`, of a warning with `warning: ` before its problem, on one line whatever the
  /// file holds.
  package var description: String {
    let mark = severity == .warning ? "warning: " : ""
    return Self.printable("\(file):\(line):\(column): \(mark)\(problem); \(remedy)")
  }

  /// Control characters, which could write on a terminal, as `\u{…}`.
  private static func printable(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069:
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

extension [ConfigurationDiagnostic] {
  /// The largest number of problems, and of warnings, that are reported: hundreds are one mistake repeated, or a file
  /// for another program, and logs and health reports contain all of them.
  static let reportLimit = 50

  /// The first of these, which are in the order of the file; if there are more, one that says how many.
  var limited: Self {
    guard count > Self.reportLimit else { return self }
    let number = count - Self.reportLimit
    var more = self[Self.reportLimit]
    let noun = more.severity == .error ? "problem" : "warning"
    more.problem = "\(number) more \(noun)\(number == 1 ? "" : "s") from here on"
    more.remedy = "fix those above first"
    return prefix(Self.reportLimit) + [more]
  }
}

/// All problems of a configuration, in the order of the file; of more than 50 the first, and their number.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The problems; at least one.
  package var problems: [ConfigurationDiagnostic]

  init(_ problems: [ConfigurationDiagnostic]) { self.problems = problems }

  /// Whether the same files may be accepted later, because nothing is wrong except the machine that reads them.
  package var isTransient: Bool { problems.allSatisfy { $0.cause == .machine } }

  /// Whether nothing is wrong except certificates and keys that do not belong together.
  package var isMismatch: Bool { problems.allSatisfy { $0.cause == .mismatch } }

  /// One line each.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
