import ArgumentParser
import ConfigurationFile
import Gateway

/// `cordon ready`: what a container's health check runs, where there is no HTTP client.
struct ReadyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ready",
    abstract: "Checks whether the running gateway is ready.",
    discussion: """
      Requests /readyz at admin.address. For health checks in containers without an HTTP client.

      Exit status: 0 if it is ready, 1 if it is not or does not answer, 78 if the configuration is invalid.
      """)

  @Option(
    name: .long, help: ArgumentHelp("The configuration file of the running gateway.", valueName: "file"),
    completion: .file())
  var config: String

  func run() async throws {
    let configuration = try Configuration.loaded(from: config)
    do {
      guard try await AdministrationClient(at: configuration.adminAddress, configuration.admin).isReady() else {
        complain("not ready: /healthz at \(configuration.adminAddress) says why")
        throw ExitCode.failure
      }
      print("ready")
    } catch let code as ExitCode {
      throw code
    } catch {
      complain("cordon ready: \(printable("\(error)"))")
      throw ExitCode.failure
    }
  }
}
