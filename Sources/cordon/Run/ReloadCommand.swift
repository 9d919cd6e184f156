import ArgumentParser
import ConfigurationFile
import Gateway

/// `cordon reload`: has a running gateway read its configuration again.
struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Reloads the configuration of a running gateway.",
    discussion: """
      Reads configuration, secrets, Apple's key, templates and certificates again and applies them from the next \
      request on; no connection is closed. If there is an error, or a change that requires a restart, the running \
      configuration is kept, and the reasons are reported here, in the gateway's log and in its metrics. A \
      members_file that is broken now keeps its previous members; that is reported, too. Uses \
      admin.address with the token of admin.token_file; SIGHUP has the same effect.

      Exit status: 0 if the configuration was applied, 1 if the gateway kept the old one or could not be reached, 78 \
      if the file is invalid: then the gateway kept the old one, too.
      """)

  @OptionGroup var gateway: RunningGatewayOptions

  func run() async throws {
    do throws(ConfigurationError) {
      _ = try ConfigurationFile.load(gateway.config, checksMembersFiles: false)
    } catch {
      return try await run(despite: error)
    }
    try await gateway.perform("reload") { client in
      try await client.reload()
    } tell: { report in
      try tell(report, orExit: .failure)
    }
  }

  /// Asks the gateway although the file is invalid: its log and its metrics report that, too, and it may read the file
  /// differently, in another environment and as another user.
  private func run(despite problems: ConfigurationError) async throws {
    let report: ReloadReport
    do {
      guard let admin = ConfigurationFile.adminListener(gateway.config) else {
        throw UnknownAdminAddressError()
      }
      report = try await gateway.waiting { try await AdminClient(at: admin.address, admin.settings).reload() }
    } catch {
      printError("\(problems)")
      printError("Not reloaded: the file is invalid. The gateway was not contacted: \(printable("\(error)"))")
      throw problems.exit
    }
    try tell(report, orExit: problems.exit)
  }

  /// The address of the admin listener is unknown.
  private struct UnknownAdminAddressError: Error, CustomStringConvertible {
    var description: String {
      "the [admin] table cannot be read, so the admin listener's address is unknown; fix it, or send SIGHUP"
    }
  }

  private func tell(_ report: ReloadReport, orExit status: ExitCode) throws {
    if gateway.json { try printJSON(report) } else { tell(report) }
    if !report.reloaded { throw status }
  }

  private func tell(_ report: ReloadReport) {
    guard report.reloaded else {
      for problem in report.problems { printError(printable(problem)) }
      return printError(
        "Not reloaded: the running configuration stays in effect. After a correction of the file run `cordon reload` "
          + "again.")
    }
    print(
      report.changed.isEmpty
        ? "Reloaded. The configuration is the same; the files that it names were read again."
        : "Reloaded. Changed: \(report.changed.joined(separator: ", ")).")
    for problem in report.kept ?? [] { printError(printable("Kept the previous members: \(problem)")) }
  }
}
