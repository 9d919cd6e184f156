import ArgumentParser
import Gateway

/// `cordon reload`: has a running gateway read its configuration again.
struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Has a running gateway read its configuration again.",
    discussion: """
      Configuration, secrets, Apple's key, pages and certificate are read anew, and hold from the next request on; no \
      connection is closed. Where anything is wrong, or changes what a running gateway cannot change, everything stays \
      as it is, and the reasons are told. Asks at admin.address, with the token of admin.token_file; SIGHUP does the \
      same without asking.

      Exit status: 0 when the configuration holds, 1 if the gateway kept the old one or could not be asked, 78 if the \
      file is not in order.
      """)

  @OptionGroup var gateway: RunningGatewayOptions

  func run() async throws {
    try await gateway.perform("reload") { client in
      try await client.reload()
    } tell: { report in
      if gateway.json { try printJSON(report) } else { tell(report) }
      if !report.reloaded { throw ExitCode.failure }
    }
  }

  private func tell(_ report: ReloadReport) {
    guard report.reloaded else {
      for problem in report.problems { complain(printable(problem)) }
      return complain("Not reloaded: the running configuration goes on.")
    }
    print(
      report.changed.isEmpty
        ? "Reloaded. The configuration is the same; the files that it names were read again."
        : "Reloaded. Changed: \(report.changed.joined(separator: ", ")).")
  }
}
