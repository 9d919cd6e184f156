import ArgumentParser
import ConfigurationFile
import Gateway
import SQLiteSessions
import Sessions
import WebFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `cordon doctor`: looks at everything that the gateway needs, live.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Tests everything that the gateway needs at run time.",
    discussion: """
      Prints a line for each warning of `cordon check` and for each test: the redirect URI by \
      Apple's rules; the key file; a client secret; Apple's keys; the clock against Apple's; team, key and client ID \
      with Apple (by an invalid code, without any user's data); the application; the certificate; whether public_url \
      and each host lead to the running gateway; the session secrets; the store. It changes nothing. Run it as the \
      gateway's user; the gateway may be running.

      Exit status: 0 if users can sign in (also with warnings), 1 if not, 78 if the configuration is invalid.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config = ConfigurationFile.defaultPath

  func run() async throws {
    try ResourceFloor.checkThreads()
    let (configuration, mistakes) = try Configuration.checked(from: config)
    let store = configuration.store
    let doctor = Doctor(settings: try GatewaySettings(configuration)) { () async throws(StoreError) in
      try await store.openIfPresent()
    }
    let isTerminal = isatty(STDOUT_FILENO) == 1
    // An empty value counts as unset (no-color.org).
    let wantsNoColour = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    let style = Style(isColoured: isTerminal && !wantsNoColour, lines: TerminalLines())
    print(style.line(.ok, "configuration", "\(config) is valid", nil))
    for mistake in mistakes {
      print(style.line(.warning, "configuration", "line \(mistake.line): \(mistake.problem)", mistake.remedy))
    }
    let account = store.accountOfService
    if let account {
      let command = "runuser -u \(account.name) -- cordon doctor --config \(ShellWord.quoting(config))"
      print(
        style.line(
          .warning, "account",
          "this is root, who may read every file, and the store's folder \(account.folder) is of \(account.name)",
          "\(command), to find files that the gateway cannot read"))
    }
    // Apple may take twelve seconds over an answer.
    let line = StatusLine()
    line.show("      looking")
    let findings: [DoctorFinding]
    do {
      findings = try await doctor.examine { finding in
        line.clear()
        print(style.line(finding.status, finding.subject, finding.seen, finding.remedy))
        line.show("      looking")
      }
    } catch {
      line.clear()
      printError("cordon doctor: \(printable("\(error)"))")
      throw ExitCode.failure
    }
    line.clear()
    let failures = findings.count { $0.status == .failure }
    let warnings = findings.count { $0.status == .warning } + mistakes.count + (account == nil ? 0 : 1)
    print(style.summary(failures: failures, warnings: warnings))
    if failures > 0 { throw ExitCode.failure }
  }

  /// The style of output lines.
  private struct Style {
    let isColoured: Bool
    /// On a terminal what to do stands on a line of its own. Programs get one line for each thing.
    let lines: TerminalLines

    func line(_ status: DoctorFinding.Status, _ subject: String, _ seen: String, _ remedy: String?) -> String {
      let (word, colour) =
        switch status {
        case .ok: ("ok  ", 32)
        case .warning: ("warn", 33)
        case .failure: ("FAIL", 31)
        }
      let padding = String(repeating: " ", count: max(0, 13 - subject.count))
      let shown = isColoured ? "\u{1B}[1;\(colour)m\(word)\u{1B}[0m" : word
      let line = "\(shown)  \(subject)\(padding)  \(lines.fitted(printable(seen), indentation: 21))"
      guard let remedy = remedy.map(printable) else { return line }
      guard lines.columns != nil else { return "\(line); \(remedy)" }
      return "\(line)\n\(String(repeating: " ", count: 21))→ \(lines.fitted(remedy, indentation: 23))"
    }

    func summary(failures: Int, warnings: Int) -> String {
      if failures == 0, warnings == 0 { return "\nNo problems found." }
      let parts = [(failures, "failure"), (warnings, "warning")].filter { $0.0 > 0 }
        .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
      return "\n\(parts.joined(separator: ", "))."
    }
  }
}
