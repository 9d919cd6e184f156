import ConfigurationFile

extension Invariant {
  /// Any text leads to settings or diagnostics. Each diagnostic has a place in the file, is one line with a remedy, and
  /// never contains the value of an environment variable.
  static let configuration = Invariant("configuration") { bytes in
    do throws(ConfigurationError) {
      _ = try ConfigurationFile.parse(
        bytes, name: "gateway.conf", directory: "/conf", environment: FixedMachine.variable, files: FixedMachine.files)
    } catch {
      try require(!error.problems.isEmpty, "refused without a reason")
      let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
      for problem in error.problems {
        try require((1...lines.count).contains(problem.line), "line \(problem.line) of \(lines.count): \(problem)")
        let columns = lines[problem.line - 1].count + 1
        try require((1...columns).contains(problem.column), "column \(problem.column) of \(columns): \(problem)")
        try require(!problem.problem.isEmpty && !problem.remedy.isEmpty, "a complaint without a remedy: \(problem)")
        let text = Array(problem.description.utf8)
        try require(text.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a complaint of more than a line: \(shown(text))")
        try require(!problem.description.contains(FixedMachine.secret), "a secret is told: \(problem)")
      }
    }
  }
}

/// A machine with a few files and variables.
private enum FixedMachine {
  static let secret = "hunter2-very-secret"

  static let variable: @Sendable (String) -> String? = { name in
    switch name {
    case "SECRET": secret
    case "EMPTY": ""
    case "APP_HOST": "app.example.com"
    default: nil
    }
  }

  static let files = FileAccess { path, _ in
    switch path {
    case "/conf/session.key": .contents([UInt8](repeating: 0x41, count: 48), mode: 0o600)
    case "/conf/open.key": .contents([UInt8](repeating: 0x41, count: 32), mode: 0o644)
    case "/conf/AuthKey_ABC123DEFG.p8":
      .contents(Array("-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n".utf8), mode: 0o600)
    case "/conf/fullchain.pem": .contents(Array("-----BEGIN CERTIFICATE-----\nMII".utf8), mode: 0o644)
    case "/conf/folder": .notRegular
    default: .missing
    }
  }
}
