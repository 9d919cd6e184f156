import ArgumentParser
import ConfigurationFile
import DataPlane
import Gateway

/// `cordon ready`: what a container's health check runs, where there is no HTTP client.
struct ReadyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ready",
    abstract: "Checks whether the running gateway is ready.",
    discussion: """
      Requests /readyz at admin.address, or /livez with --live. For health checks in containers without an HTTP client. \
      Use --live where an unhealthy container is started again: that does not bring back a session store that is away.

      Exit status: 0 if it is ready (live), 1 if it is not or does not answer, 78 if [admin] of the configuration \
      cannot be read.
      """)

  @Option(
    name: .long, help: ArgumentHelp("The configuration file of the running gateway.", valueName: "file"),
    completion: .file())
  var config = ConfigurationFile.defaultPath

  @Flag(help: "Check only whether the process answers.")
  var live = false

  func run() async throws {
    let address = try address()
    do {
      let client = AdminClient(forHealthAt: address)
      if live {
        let liveness = try await client.liveness()
        try report("live", isReached: liveness.isLive, because: liveness.reason, at: address)
      } else {
        let readiness = try await client.readiness()
        try report("ready", isReached: readiness.isReady, because: readiness.reason, at: address)
      }
    } catch let code as ExitCode {
      throw code
    } catch {
      printError("cordon ready: \(printable("\(error)"))")
      throw ExitCode.failure
    }
  }

  /// Prints the state of the gateway, or the reason why it is not in it.
  /// - Throws: `ExitCode` 1 where it is not.
  private func report(
    _ state: String, isReached: Bool, because reason: String?, at address: BindAddress
  ) throws {
    guard isReached else {
      printError("not \(state): \(printable(reason ?? "see /healthz at \(address)"))")
      throw ExitCode.failure
    }
    print(state)
  }

  /// The address of the admin listener, by `[admin]` alone: a mistake elsewhere, made since the start, says nothing
  /// about the gateway that runs.
  /// - Throws: `ExitCode` 78, after every problem of the file was reported.
  private func address() throws -> BindAddress {
    if let admin = ConfigurationFile.adminListener(config) { return admin.address }
    return try Configuration.loaded(from: config).adminAddress
  }
}
